"""What each row of a token tree may look at."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from foredraft.core.types import ROOT


def depths_of(parents: Sequence[int]) -> list[int]:
    """How far below the cached text each row lies; 0 for its direct continuations."""
    depths: list[int] = []
    for parent in parents:
        depths.append(0 if parent == ROOT else depths[parent] + 1)
    return depths


def tree_mask(model: Any, start: int, parents: Sequence[int], visible: int) -> Any:
    """Additive mask [1, 1, rows, visible]: a row sees the prefix, its ancestors and itself.

    `start` tokens are cached. One mask a kind of layer where kinds differ, in the form the models
    take from `generate`.
    """
    config = model.config.get_text_config(decoder=True)
    rows, depths = len(parents), np.array(depths_of(parents))
    ancestors = np.eye(rows, dtype=bool)
    for row, parent in enumerate(parents):
        if parent != ROOT:
            ancestors[row] |= ancestors[parent]
    sees = np.zeros((rows, max(visible, start + rows)), dtype=bool)
    sees[:, :start] = True
    sees[:, start : start + rows] = ancestors
    slots = np.arange(sees.shape[1])
    slots[start : start + rows] = start + depths
    window = getattr(config, "sliding_window", None) or len(slots)
    near = (start + depths)[:, None] - slots < window
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    masks = {
        kind: _additive((sees & near if kind == "sliding_attention" else sees)[:, :visible], model)
        for kind in kinds
    }
    return masks if len(masks) > 1 else masks.popitem()[1]


def _additive(sees: np.ndarray[Any, np.dtype[np.bool_]], model: Any) -> torch.Tensor:
    mask = torch.zeros(sees.shape, dtype=model.dtype)
    mask[torch.from_numpy(~sees)] = torch.finfo(model.dtype).min
    return mask[None, None].to(model.device)
