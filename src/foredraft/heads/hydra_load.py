"""From the tensors of a Hydra head, as its authors' code names them, to a head."""

from dataclasses import dataclass

from foredraft.core.errors import ForedraftError
from foredraft.heads.checkpoint import Checkpoint
from foredraft.heads.hydra import Hydra, HydraHead, Shape
from foredraft.heads.layers import layer_config
from foredraft.heads.shared import check_sizes, embeddings, text_config
from foredraft.heads.vocabulary import DraftVocabulary
from foredraft.heads.weights import build, signature
from foredraft.targets.torch_hf import TorchTarget

_BEGINS = {1: "hydra_mlp.0.0.linear.weight", 2: "hydra_mlp.0.1.linear.weight"}
"""The first tensor, by what places are counted in: Hydra++ has a dropout, which has no tensors,
before each block and each output matrix."""


@dataclass(frozen=True, slots=True)
class Names:
    """All tensors begin with `before`; places are counted in steps of `step`.

    Blocks beyond the first `kept` are the last of those run again: files may keep it once.
    """

    before: str
    step: int
    kept: int

    @property
    def heads(self) -> str:
        return f"{self.before}hydra_mlp."

    @property
    def outputs(self) -> str:
        return f"{self.before}hydra_lm_head."

    @property
    def prefix(self) -> str:
        return f"{self.before}prefix_embeding_layer."

    def tensor(self, parameter: str, blocks: int) -> str:
        """The tensor of a parameter of a Hydra network with so many blocks for each depth."""
        part, depth, place, *rest = parameter.split(".")
        if part == "prefix":
            inner = parameter.removeprefix("prefix.")
            return self.prefix + inner.replace("layer.", "layers.0.", 1)
        if int(place) == blocks:
            return self.outputs + ".".join([depth, *["1"] * (self.step - 1), *rest])
        kept = min(int(place), self.kept - 1) * self.step + self.step - 1
        return self.heads + ".".join([depth, str(kept), *rest])


def hydra_load(checkpoint: Checkpoint, target: TorchTarget) -> HydraHead:
    """The tensors say how many heads and blocks there are, and what they read."""
    if (kind := checkpoint.config.get("hydra_head_arch", "mlp")) not in ("mlp", "prefix-mlp"):
        raise ForedraftError(
            f"{checkpoint.phrase} has the architecture {kind!r}; foredraft runs 'mlp' and "
            "'prefix-mlp' (Hydra++)."
        )
    config, shapes, names = text_config(target), checkpoint.shapes, _names(checkpoint)
    first = names.before + _BEGINS[names.step]
    check_sizes(checkpoint, target, shapes[first][0])
    shape = _shape(checkpoint, names, first)
    layers = config.to_dict() | {"num_hidden_layers": 1}
    own = (names.heads, names.outputs, names.prefix)
    network = build(
        lambda: Hydra(layer_config(layers, attention=config._attn_implementation), shape),
        checkpoint,
        target,
        lambda parameter: names.tensor(parameter, shape.blocks),
        ignored=[
            *(name for name in shapes if not name.startswith(own)),
            f"{names.prefix}embed_tokens.weight",
            f"{names.prefix}layers.0.self_attn.rotary_emb.inv_freq",
        ],
    )
    return HydraHead(
        taps=(config.num_hidden_layers - (checkpoint.number("hidden_state_offset") or 0),),
        signature=signature(checkpoint, target),
        network=network,
        embed=embeddings(target),
        vocabulary=DraftVocabulary(target.vocab_size),
    )


def _names(checkpoint: Checkpoint) -> Names:
    for step, begin in _BEGINS.items():
        for name in checkpoint.shapes:
            if name.endswith(begin):
                before = name.removesuffix(begin)
                kept = max(place for _, place in _places(checkpoint, f"{before}hydra_mlp."))
                return Names(before, step, 1 + kept // step)
    raise ForedraftError(
        f"{checkpoint.phrase} has no tensor {' or '.join(_BEGINS.values())}, one of which begins "
        "the first of its heads; its files are not those of a Hydra head."
    )


def _shape(checkpoint: Checkpoint, names: Names, first: str) -> Shape:
    shapes = checkpoint.shapes
    blocks = max(names.kept, checkpoint.number("hydra_num_layers") or 0)
    rows = shapes.get(names.tensor(f"depths.0.{blocks}.weight", blocks), (0,))[0]
    return Shape(
        depths=1 + max(depth for depth, _ in _places(checkpoint, names.heads)),
        blocks=blocks,
        rows=rows,
        grounded=first.replace("linear", "res_connection") in shapes,
        prefix=any(name.startswith(names.prefix) for name in shapes),
    )


def _places(checkpoint: Checkpoint, heads: str) -> list[tuple[int, int]]:
    """The depth and the place within it of each tensor of the networks."""
    found = [name.removeprefix(heads) for name in checkpoint.shapes if name.startswith(heads)]
    return [(int(depth), int(place)) for depth, place, *_ in (name.split(".") for name in found)]
