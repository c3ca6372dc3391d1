"""Multi-token prediction: modules trained with their target and shipped among its weights."""

import re
from dataclasses import dataclass, replace

import torch

from foredraft.core.errors import ForedraftError
from foredraft.heads.base import Head
from foredraft.heads.checkpoint import Checkpoint
from foredraft.heads.mtp_network import MTPNetwork, block_config
from foredraft.heads.mtp_stack import StackedHead
from foredraft.heads.recursive import RecursiveHead
from foredraft.heads.shared import check_sizes, output, text_config
from foredraft.heads.vocabulary import DraftVocabulary
from foredraft.heads.weights import build, signature
from foredraft.targets.quiet import first_line
from foredraft.targets.torch_hf import TorchTarget

_MOST = 64
"""More modules than any model has."""
_COPIES = ("embed_tokens.weight", "shared_head.head.weight", "self_attn.rotary_emb.inv_freq")
_EXPERT = re.compile(r"(.+\.experts)\.(\d+)\.gate_proj\.weight$")


@dataclass(frozen=True, slots=True)
class Layout:
    """How checkpoints name a module's tensors: what comes before them all, then each part's name;
    those of the decoder block have theirs from the target's layers."""

    before: str
    enorm: str
    hnorm: str
    eh_proj: str
    norm: str
    block: str = ""

    def tensor(self, parameter: str, start: str, layers: int) -> str:
        """The tensor of a parameter of MTPNetwork: depths.MODULE.PART.…, behind `start`."""
        _, module, part, *rest = parameter.split(".")
        names = {
            "enorm": self.enorm,
            "hnorm": self.hnorm,
            "eh_proj": self.eh_proj,
            "norm": self.norm,
            "block": self.block,
        }
        named = [names[part], *rest] if names[part] else rest
        return start + self.before.format(layers + int(module)) + ".".join(named)


_LAYOUTS = (
    # DeepSeek's: the module's number counts on from the target's layers.
    Layout("layers.{}.", "enorm", "hnorm", "eh_proj", "shared_head.norm"),
    # Qwen3-Next's and Qwen3.5's.
    Layout("mtp.", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "fc", "norm", block="layers.0"),
    # That of the package `speculators`.
    Layout("mtp_layers.0.", "token_layernorm", "hidden_layernorm", "input_proj", "final_layernorm"),
)


def mtp_load(checkpoint: Checkpoint, target: TorchTarget) -> Head:
    """Embeddings and output matrix are the target's; some checkpoints hold copies of them."""
    config = text_config(target)
    layout, start = _layout(checkpoint, target)

    def rename(parameter: str) -> str:
        return layout.tensor(parameter, start, config.num_hidden_layers)

    joints = {rename(f"depths.{module}.eh_proj.weight") for module in range(_MOST)}
    joints &= set(checkpoint.shapes)
    check_sizes(checkpoint, target, checkpoint.shapes[min(joints)][0])
    before = tuple(name.removesuffix(f"{layout.eh_proj}.weight") for name in joints)
    own = {name: shape for name, shape in checkpoint.shapes.items() if name.startswith(before)}
    checkpoint = _with_stacked_experts(replace(checkpoint, shapes=own))
    block = block_config(config, sparse=any(".experts." in name for name in own))

    def make() -> MTPNetwork:
        try:
            return MTPNetwork(block, len(joints), target.model)
        except Exception as error:
            raise ForedraftError(
                f"{checkpoint.phrase} has modules built like the layers of {target.name}, which "
                f"cannot be built by themselves ({first_line(error)}); use another draft."
            ) from error

    network = build(
        make,
        checkpoint,
        target,
        rename,
        ignored=[module + copy for module in before for copy in _COPIES],
    )
    embed, project = target.model.get_input_embeddings(), output(target)
    vocabulary, speed = DraftVocabulary(target.vocab_size), signature(checkpoint, target)
    taps = (config.num_hidden_layers,)
    if len(joints) > 1:
        return StackedHead(taps, speed, network, embed, project, vocabulary)
    return RecursiveHead("mtp", taps, speed, network, embed, project, vocabulary)


def _layout(checkpoint: Checkpoint, target: TorchTarget) -> tuple[Layout, str]:
    """How the tensors are named, and what lies before all their names."""
    layers = text_config(target).num_hidden_layers
    wanted = [layout.tensor("depths.0.eh_proj.weight", "", layers) for layout in _LAYOUTS]
    for layout, name in zip(_LAYOUTS, wanted, strict=True):
        for tensor in checkpoint.shapes:
            if f".{tensor}".endswith(f".{name}"):
                return layout, tensor.removesuffix(name)
    raise ForedraftError(
        f"{checkpoint.phrase} has none of the tensors {', '.join(wanted)}, with which a module for "
        f"{target.name} and its {layers} layers begins; it belongs to another target, or is of a "
        "variant that foredraft does not know."
    )


def _with_stacked_experts(checkpoint: Checkpoint) -> Checkpoint:
    """Experts as Transformers' layers keep them: all in one tensor, gates and ups side by side."""
    shapes, made = dict(checkpoint.shapes), dict(checkpoint.unpickled)
    found = [match for name in shapes if (match := _EXPERT.match(name))]
    for group in {match[1] for match in found}:
        count = sum(match[1] == group for match in found)
        names = {
            part: [f"{group}.{expert}.{part}_proj.weight" for expert in range(count)]
            for part in ("gate", "up", "down")
        }
        apart = {name for part in names.values() for name in part}
        if not apart <= set(shapes):
            continue  # what is missing is said with the rest
        gate, up, down = (
            torch.stack([checkpoint.tensor(name) for name in part]) for part in names.values()
        )
        stacked = {
            f"{group}.gate_up_proj": torch.cat([gate, up], dim=1),
            f"{group}.down_proj": down,
        }
        shapes = {name: shape for name, shape in shapes.items() if name not in apart}
        shapes |= {name: tuple(value.shape) for name, value in stacked.items()}
        made |= stacked
    return replace(checkpoint, shapes=shapes, unpickled=made)
