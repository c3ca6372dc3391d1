"""What the config.json of a block drafter says, in one form for every layout."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from transformers import AutoConfig, Qwen3Config

from foredraft.core.errors import ForedraftError
from foredraft.heads.checkpoint import Checkpoint
from foredraft.heads.layers import layer_config
from foredraft.targets.masks import FULL, SLIDING
from foredraft.targets.quiet import first_line, quiet

_TRANSFORMERS = "muse_glimmer_assistant"
"""The one model of this kind in Transformers, which has Qwen3's layers too."""
_OTHERS = {
    "conv_kernel_size": "the convolutions of DFlash2",
    "selector_rank": "the candidate selector of DFlash2",
    "attention_value_scale": "scaled attention values",
    "use_swa": "a sliding window in every layer",
}
"""Settings of dflash_config that change the network into one that is not built here."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a block's rows see of each other and of the text before, in one kind of layer.

    A window is counted from each row, or where it is `fixed` for all of them from the first.
    """

    causal: bool = False
    window: int | None = None
    fixed: bool = False

    def of(self, start: int, rows: int) -> npt.NDArray[np.bool_] | None:
        """[rows, start + rows] for a block that begins at position `start`; None if it sees all."""
        row, seen = start + np.arange(rows)[:, None], np.arange(start + rows)
        sees = np.ones((rows, start + rows), dtype=bool)
        if self.causal:
            sees &= seen <= row
        if self.window is not None and self.fixed:
            sees &= seen >= start - self.window
        elif self.window is not None:
            sees &= abs(row - seen) < self.window
        return None if sees.all() else sees


@dataclass(frozen=True, slots=True)
class Block:
    """How a block drafter is built.

    Its rows are the last token and `size` − 1 mask tokens. Row `first` gives the first drafted
    token: row 1, or row 0 where the last token's own row predicts what follows it. `layers` is a
    Qwen3Config whatever the target is, and `taps` are those of heads/base.py.
    """

    layers: Any
    taps: tuple[int, ...]
    size: int
    mask: int
    first: int
    sights: Mapping[str, Sight]
    embedding_scale: float = 1.0
    logit_scale: float = 1.0
    logit_cap: float | None = None

    @property
    def reach(self) -> int:
        return self.size - self.first


def flat(checkpoint: Checkpoint) -> Checkpoint:
    """With the settings that z-lab and DeepSpec keep apart among the others."""
    told = checkpoint.config
    return replace(
        checkpoint,
        config={**told, **(told.get("dflash_config") or told.get("dspark_config") or {})},
    )


def block_of(checkpoint: Checkpoint, from_anchor: bool, attention: str) -> Block:
    """The block of a `flat` checkpoint; `from_anchor` is what holds where it does not say whether
    the last token's own row predicts, `attention` as in layer_config.

    Raises ForedraftError for what is missing, or asks for another network than this one.
    """
    spoken = _speculators if "speculators_model_type" in checkpoint.config else _z_lab
    return spoken(checkpoint, from_anchor, attention)


def _speculators(checkpoint: Checkpoint, from_anchor: bool, attention: str) -> Block:
    """The layout of the package `speculators`: its layers are indices into `hidden_states`."""
    layers, window = _layers(checkpoint, attention)
    causal = not checkpoint.flag("sliding_window_non_causal")
    return Block(
        layers=layers,
        taps=_layer_ids(checkpoint, "aux_hidden_state_layer_ids"),
        size=_size(checkpoint, 8),
        mask=_mask(checkpoint),
        first=_first(checkpoint, from_anchor),
        sights={FULL: Sight(), SLIDING: Sight(causal, window, fixed=True)},
    )


def _z_lab(checkpoint: Checkpoint, from_anchor: bool, attention: str) -> Block:
    """The layout of z-lab, DeepSpec and Transformers: its layers count from the first one's output,
    which is `hidden_states[1]`."""
    told = checkpoint.config
    for key, what in _OTHERS.items():
        if told.get(key):
            raise ForedraftError(
                f"{checkpoint.phrase} has {what} ({key} in its config.json), which foredraft does "
                "not know; use a plain DFlash or DSpark head."
            )
    if (family := told.get("model_type", "qwen3")) not in ("qwen3", _TRANSFORMERS):
        raise ForedraftError(
            f"{checkpoint.phrase} is built from layers of {family}; foredraft knows those whose "
            "layers are Qwen3's."
        )
    layers, window = _layers(checkpoint, attention)
    causal = told.get("is_causal", told.get("causal"))
    if family == _TRANSFORMERS:  # its windows reach one place further, and both ways
        causal, window = False, None if window is None else window + 1
    return Block(
        layers=layers,
        taps=tuple(layer + 1 for layer in _z_lab_ids(checkpoint, layers.num_hidden_layers)),
        size=_size(checkpoint, 16),
        mask=_mask(checkpoint),
        first=_first(checkpoint, from_anchor),
        sights={
            FULL: Sight(bool(causal)),
            SLIDING: Sight(causal is None or bool(causal), window),
        },
        embedding_scale=_factor(checkpoint, "input_embedding_scale") or 1,
        logit_scale=_factor(checkpoint, "output_multiplier") or 1,
        logit_cap=_factor(checkpoint, "final_logit_softcapping"),
    )


def _z_lab_ids(checkpoint: Checkpoint, own: int) -> Sequence[int]:
    layers = checkpoint.number("num_target_layers")
    if layers is None or "target_layer_ids" in checkpoint.config:
        return _layer_ids(checkpoint, "target_layer_ids")
    # What z-lab's first checkpoints read, which do not list it.
    if own == 1:
        return [layers // 2]
    return [round(1 + i * (layers - 4) / (own - 1)) for i in range(own)]


def _layers(checkpoint: Checkpoint, attention: str) -> tuple[Any, int | None]:
    """The Qwen3Config of the layers, and the window of those that slide."""
    family = checkpoint.layers.get("model_type", "qwen3")
    try:
        # A setting that is left out is the default of its own family.
        made = Qwen3Config if family == "qwen3" else type(AutoConfig.for_model(family))
    except ValueError as error:
        raise ForedraftError(
            f"{checkpoint.phrase} takes its settings from the unknown family {family!r}; update "
            "Transformers, or use another head."
        ) from error
    given = {key: value for key, value in checkpoint.layers.items() if key != "model_type"}
    try:
        with quiet():
            told = made(**given).to_dict()
    except Exception as error:
        raise ForedraftError(
            f"{checkpoint.phrase} has a config.json that describes no layers that can be built "
            f"({first_line(error)}); check that it is complete."
        ) from error
    rope = told.get("rope_parameters") or {}
    if rope.get("partial_rotary_factor", 1) != 1 or not told.get("rope_is_neox_style", True):
        raise ForedraftError(
            f"{checkpoint.phrase} rotates queries and keys in another way than Qwen3's layers do "
            "(partial_rotary_factor or rope_is_neox_style), which foredraft does not know."
        )
    return layer_config(told, head_norms=True, attention=attention), told.get("sliding_window")


def _size(checkpoint: Checkpoint, default: int) -> int:
    size = checkpoint.number("block_size") or default
    if size < 2:
        raise ForedraftError(
            f"{checkpoint.phrase} has block_size {size} in its config.json; a block has 2 rows or "
            "more."
        )
    return size


def _first(checkpoint: Checkpoint, from_anchor: bool) -> int:
    told = "sample_from_anchor" in checkpoint.config
    return 0 if (checkpoint.flag("sample_from_anchor") if told else from_anchor) else 1


def _mask(checkpoint: Checkpoint) -> int:
    mask = checkpoint.number("mask_token_id")
    return _missing(checkpoint, "mask_token_id") if mask is None else mask


def _layer_ids(checkpoint: Checkpoint, key: str) -> tuple[int, ...]:
    ids = checkpoint.config.get(key)
    if not ids:
        _missing(checkpoint, key)
    if not isinstance(ids, list) or not all(isinstance(layer, int) for layer in ids):
        raise ForedraftError(
            f"{checkpoint.phrase} has {key} {ids!r} in its config.json, where a list of whole "
            "numbers belongs; download it again."
        )
    return tuple(ids)


def _factor(checkpoint: Checkpoint, key: str) -> float | None:
    """A number other than 0, or None."""
    value = checkpoint.config.get(key)
    if not isinstance(value, int | float | None):
        raise ForedraftError(
            f"{checkpoint.phrase} has {key} {value!r} in its config.json, where a number belongs; "
            "download it again."
        )
    return float(value) if value else None


def _missing(checkpoint: Checkpoint, key: str) -> NoReturn:
    raise ForedraftError(
        f"{checkpoint.phrase} has no {key} in its config.json, without which it cannot be built; "
        "download it again, or ask those who trained it."
    )
