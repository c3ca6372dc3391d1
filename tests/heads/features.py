"""Hidden states without a target: random ones, the same for the same token and place."""

from collections.abc import Sequence

import torch


class Random:
    """As base.Features: [end − start, taps · size]."""

    def __init__(self, size: int, seed: int = 0) -> None:
        self._size = size
        self._states = torch.randn(400, 64, size, generator=torch.Generator().manual_seed(seed))

    def hidden(self, taps: Sequence[int], start: int, end: int) -> torch.Tensor:
        return self._states[start:end, list(taps)].flatten(1)
