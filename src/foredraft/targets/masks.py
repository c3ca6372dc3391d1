"""What each row of a pass may look at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from foredraft.core.types import ROOT

FULL, SLIDING = "full_attention", "sliding_attention"
"""Transformers' names for layers that see the whole text, and those that see a window of it."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """One sequence's rows: `start` tokens are cached, and attention looks at `visible` slots."""

    start: int
    parents: Sequence[int]
    visible: int


def depths_of(parents: Sequence[int]) -> list[int]:
    """How far below the cached text each row lies; 0 for its direct continuations."""
    depths: list[int] = []
    for parent in parents:
        depths.append(0 if parent == ROOT else depths[parent] + 1)
    return depths


def layer_kinds(config: Any) -> set[str]:
    """The kinds of attention layers a model has."""
    default = FULL if getattr(config, "sliding_window", None) is None else SLIDING
    return set(getattr(config, "layer_types", None) or [default])


def known(config: Any) -> bool:
    """Whether `row_masks` is right for all its layers; Llama 4's see a text in chunks."""
    return layer_kinds(config) <= {FULL, SLIDING}


def sees_all(config: Any, stretch: Stretch) -> bool:
    """Whether nothing is kept from its rows in any layer: a single one, within every window."""
    reach = config.sliding_window if SLIDING in layer_kinds(config) else stretch.visible
    return len(stretch.parents) == 1 and stretch.visible <= reach


def row_masks(model: Any, stretches: Sequence[Stretch]) -> Any:
    """Additive mask [1, 1, rows, slots]: a row sees its prefix, its ancestors and itself.

    Several sequences stand one below the other, each over slots of its own. One mask a kind of
    layer where kinds differ, in the form the models take from `generate`.
    """
    slots = max(stretch.visible for stretch in stretches)

    def sees(window: int | None) -> torch.Tensor:
        seen = [_sees(stretch, slots, window) for stretch in stretches]
        return torch.from_numpy(np.concatenate(seen))[None, None]

    return masks_by_kind(model, sees)


def masks_by_kind(model: Any, sees: Callable[[int | None], torch.Tensor]) -> Any:
    """`sees(window)` [texts, 1, rows, slots] as additive masks: one a kind of the model's layers
    where these differ, else one alone. The window is None for layers that see the whole text."""
    config = model.config.get_text_config(decoder=True)
    masks = {}
    for kind in layer_kinds(config):
        seen = sees(config.sliding_window if kind == SLIDING else None)
        mask = torch.zeros(seen.shape, dtype=model.dtype)
        mask[~seen] = torch.finfo(model.dtype).min
        masks[kind] = mask.to(model.device)
    return masks if len(masks) > 1 else masks.popitem()[1]


def _sees(stretch: Stretch, slots: int, window: int | None) -> npt.NDArray[np.bool_]:
    start, rows, depths = stretch.start, len(stretch.parents), np.array(depths_of(stretch.parents))
    sees = np.zeros((rows, max(slots, start + rows)), dtype=bool)
    sees[:, :start] = True
    for row, parent in enumerate(stretch.parents):
        if parent != ROOT:
            sees[row, start:] = sees[parent, start:]
        sees[row, start + row] = True
    if window is not None:
        places = np.arange(sees.shape[1])
        places[start : start + rows] = start + depths
        sees &= (start + depths)[:, None] - places < window
    return sees[:, :slots]
