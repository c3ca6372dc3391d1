"""An EAGLE-3 head from its checkpoint, in the layout of SafeAI and SpecForge or of speculators."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.heads.checkpoint import Checkpoint
from foredraft.heads.eagle3 import Eagle3, Eagle3Settings
from foredraft.heads.layers import layer_config
from foredraft.heads.recursive import RecursiveHead
from foredraft.heads.shared import Turned, check_sizes, check_taps, embeddings, output, text_config
from foredraft.heads.vocabulary import DraftVocabulary
from foredraft.heads.weights import build, signature
from foredraft.targets.torch_hf import TorchTarget

_IDS = "eagle_aux_hidden_state_layer_ids"


@dataclass(frozen=True, slots=True)
class Eagle3Parts:
    """What a head with this network is put together from; see RecursiveHead."""

    taps: tuple[int, ...]
    signature: str
    network: Any
    embed: Turned
    project: Turned
    vocabulary: DraftVocabulary


def eagle3_load(checkpoint: Checkpoint, target: TorchTarget) -> RecursiveHead:
    """The head, beside the target it drafts for."""
    parts = eagle3_parts(checkpoint, target, Eagle3)
    return RecursiveHead(
        "eagle3",
        parts.taps,
        parts.signature,
        parts.network,
        parts.embed,
        parts.project,
        parts.vocabulary,
    )


def eagle3_parts(
    checkpoint: Checkpoint, target: TorchTarget, make: Callable[[Any, Eagle3Settings], Eagle3]
) -> Eagle3Parts:
    """Its parts; `make` is Eagle3 or a network that adds to it."""
    taps = _taps(checkpoint, target)
    width = checkpoint.shapes.get("fc.weight", (0, 0))[-1]
    check_sizes(
        checkpoint, target, checkpoint.number("target_hidden_size") or width // len(taps) or None
    )
    check_taps(checkpoint, target, taps)
    first = "midlayer." if "midlayer.hidden_norm.weight" in checkpoint.shapes else "layers.0."
    config = layer_config(
        checkpoint.layers,
        f"{first}self_attn.q_norm.weight" in checkpoint.shapes,
        target.model.config._attn_implementation,
    )
    settings = _settings(checkpoint, target, len(taps))
    borrows = settings.draft_vocab is None or not settings.own_embeddings
    if borrows and config.hidden_size != settings.target_size:
        raise ForedraftError(
            f"{checkpoint.phrase} has hidden size {config.hidden_size:,}, its target "
            f"{settings.target_size:,}, and it brings no embeddings or no output matrix of its "
            "own; its files are not complete."
        )
    offsets = checkpoint.tensor("d2t") if "d2t" in checkpoint.shapes else None
    vocabulary = DraftVocabulary.of(target.vocab_size, offsets)
    network: Eagle3 = build(
        lambda: make(config, settings),
        checkpoint,
        target,
        lambda name: name.replace("layers.0.", first),
        ("d2t", "t2d", "verifier_norm.", "verifier_lm_head."),
    )
    return Eagle3Parts(
        taps,
        signature(checkpoint, target),
        network,
        network.embed_tokens if settings.own_embeddings else embeddings(target),
        output(target) if settings.draft_vocab is None else network.lm_head,
        vocabulary,
    )


def _settings(checkpoint: Checkpoint, target: TorchTarget, taps: int) -> Eagle3Settings:
    shapes = checkpoint.shapes
    rows = checkpoint.number("draft_vocab_size") or target.vocab_size
    if rows != target.vocab_size and "d2t" not in shapes:
        raise ForedraftError(
            f"{checkpoint.phrase} drafts {rows:,} of the {target.vocab_size:,} tokens and lacks "
            "d2t, which says which; download it again."
        )
    for name, length in (("d2t", rows), ("t2d", target.vocab_size)):
        if name in shapes and shapes[name] != (length,):
            raise ForedraftError(
                f"{checkpoint.phrase} has a vocabulary map {name} of {shapes[name][0]:,} entries, "
                f"where {length:,} belong; it was made for another target, or is damaged."
            )
    if _flag(checkpoint, "norm_before_fc") and _flag(checkpoint, "fc_norm"):
        raise ForedraftError(
            f"{checkpoint.phrase} sets both norm_before_fc and fc_norm, which exclude each other; "
            "correct its config.json."
        )
    # Where norm_before_residual is missing, speculators, which wrote the format, takes false and
    # vLLM's converter true; what speculators saves always has it.
    return Eagle3Settings(
        target_size=text_config(target).hidden_size,
        taps=taps,
        draft_vocab=rows if "lm_head.weight" in shapes or "d2t" in shapes else None,
        own_embeddings="embed_tokens.weight" in shapes,
        norm_before_residual=_flag(checkpoint, "norm_before_residual"),
        norm_before_fc=_flag(checkpoint, "norm_before_fc"),
        fc_norm=_flag(checkpoint, "fc_norm"),
        norm_output=_flag(checkpoint, "norm_output"),
    )


def _flag(checkpoint: Checkpoint, name: str) -> bool:
    return checkpoint.flag(name) or bool(_nested(checkpoint).get(name))


def _nested(checkpoint: Checkpoint) -> Mapping[str, Any]:
    """SpecForge's own settings, which it keeps apart."""
    nested: Mapping[str, Any] = checkpoint.config.get("eagle_config") or {}
    return nested


def _taps(checkpoint: Checkpoint, target: TorchTarget) -> tuple[int, ...]:
    """The hidden states it reads: those its config.json names, else the method's three."""
    size, layers = text_config(target).hidden_size, text_config(target).num_hidden_layers
    if _nested(checkpoint).get("use_aux_hidden_state") is False:
        raise ForedraftError(
            f"{checkpoint.phrase} sets use_aux_hidden_state to false, so it reads no inner layers; "
            "foredraft does not know this variant."
        )
    config = checkpoint.config
    if named := config.get(_IDS) or config.get(_IDS.removeprefix("eagle_")):
        return _whole(checkpoint, named)
    if named := _nested(checkpoint).get(_IDS):  # here a layer is named by its output
        return tuple(layer + 1 for layer in _whole(checkpoint, named))
    width = checkpoint.shapes.get("fc.weight", (0, 0))[-1]
    if width and width % size == 0 and width != 3 * size:
        raise ForedraftError(
            f"{checkpoint.phrase} reads {width // size} hidden states and does not say which; name "
            f"them as {_IDS} in its config.json."
        )
    return (2, layers // 2, layers - 3)


def _whole(checkpoint: Checkpoint, named: Any) -> tuple[int, ...]:
    if isinstance(named, list) and all(type(layer) is int for layer in named):
        return tuple(named)
    raise ForedraftError(
        f"{checkpoint.phrase} has {_IDS} {named!r} in its config.json, where a list of layers "
        "belongs; download it again."
    )
