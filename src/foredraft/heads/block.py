"""What the config.json of a block drafter says, in one form for every layout."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from transformers import AutoConfig, Qwen3Config

from foredraft.core.errors import ForedraftError
from foredraft.heads.layers import layer_config
from foredraft.targets.masks import FULL, SLIDING

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


def block_of(config: Mapping[str, Any], from_anchor: bool, attention: str = "sdpa") -> Block:
    """The block of a checkpoint; `from_anchor` is what holds where it does not say whether the
    last token's own row predicts, `attention` as in layer_config.

    Raises ForedraftError for what is missing, or asks for another network than this one.
    """
    if "speculators_model_type" in config:
        return _speculators(config, from_anchor, attention)
    return _z_lab(config, from_anchor, attention)


def _speculators(config: Mapping[str, Any], from_anchor: bool, attention: str) -> Block:
    """The layout of the package `speculators`: its layers are indices into `hidden_states`."""
    layers, window = _layers(_needed(config, "transformer_layer_config"), attention)
    free = bool(config.get("sliding_window_non_causal"))
    return Block(
        layers=layers,
        taps=_numbers(config, "aux_hidden_state_layer_ids"),
        size=_size(config, 8),
        mask=int(_needed(config, "mask_token_id")),
        first=0 if config.get("sample_from_anchor", from_anchor) else 1,
        sights={FULL: Sight(), SLIDING: Sight(not free, window, fixed=True)},
    )


def _z_lab(config: Mapping[str, Any], from_anchor: bool, attention: str) -> Block:
    """The layout of z-lab and DeepSpec: its layers count from the first one's output, which is
    `hidden_states[1]`."""
    inner = dict(config.get("dflash_config") or config.get("dspark_config") or {})
    for key, what in _OTHERS.items():
        if inner.get(key):
            raise ForedraftError(
                f"The head's config.json asks for {what} ({key}), which foredraft does not have; "
                "use a plain DFlash or DSpark head."
            )
    if (kind := config.get("model_type", "qwen3")) != "qwen3":
        raise ForedraftError(
            f"The head's layers are those of {kind}; foredraft runs DFlash and DSpark heads whose "
            "layers are Qwen3's."
        )
    said = {**config, **inner}
    layers, window = _layers(config, attention)
    causal = said.get("is_causal", said.get("causal"))
    cap = float(said.get("final_logit_softcapping") or 0)
    return Block(
        layers=layers,
        taps=tuple(layer + 1 for layer in _z_lab_layers(said, layers.num_hidden_layers)),
        size=_size(said, 16),
        mask=int(_needed(said, "mask_token_id")),
        first=0 if said.get("sample_from_anchor", from_anchor) else 1,
        sights={
            FULL: Sight(bool(causal)),
            SLIDING: Sight(causal is None or bool(causal), window),
        },
        embedding_scale=float(said.get("input_embedding_scale") or 1),
        logit_scale=float(said.get("output_multiplier") or 1),
        logit_cap=cap if cap > 0 else None,
    )


def _z_lab_layers(said: Mapping[str, Any], own: int) -> Sequence[int]:
    if said.get("target_layer_ids"):
        return _numbers(said, "target_layer_ids")
    # What z-lab's first checkpoints read, which do not list it.
    layers = int(_needed(said, "num_target_layers"))
    if own == 1:
        return [layers // 2]
    return [round(1 + i * (layers - 4) / (own - 1)) for i in range(own)]


def _layers(config: Mapping[str, Any], attention: str) -> tuple[Any, int | None]:
    """The Qwen3Config of the layers, and the window of those that slide."""
    family = config.get("model_type", "qwen3")
    try:
        # A setting that is left out is the default of its own family.
        made = Qwen3Config if family == "qwen3" else type(AutoConfig.for_model(family))
    except ValueError as error:
        raise ForedraftError(
            f"The head's config.json takes its settings from the unknown family {family!r}; update "
            "Transformers, or use another head."
        ) from error
    said = made(**{key: value for key, value in config.items() if key != "model_type"}).to_dict()
    rope = said.get("rope_parameters") or {}
    if rope.get("partial_rotary_factor", 1) != 1 or not said.get("rope_is_neox_style", True):
        raise ForedraftError(
            "The head rotates queries and keys in another way than Qwen3's layers do "
            "(partial_rotary_factor or rope_is_neox_style), which foredraft does not have."
        )
    return layer_config(said, head_norms=True, attention=attention), said.get("sliding_window")


def _size(config: Mapping[str, Any], default: int) -> int:
    size = int(config.get("block_size") or default)
    if size < 2:
        raise ForedraftError(
            f"The head's config.json gives block_size {size}; a block has 2 rows or more."
        )
    return size


def _numbers(config: Mapping[str, Any], key: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _needed(config, key))


def _needed(config: Mapping[str, Any], key: str) -> Any:
    if config.get(key) is None:
        raise ForedraftError(
            f"The head's config.json has no {key}, without which it cannot be built; download the "
            "head again, or ask those who trained it."
        )
    return config[key]
