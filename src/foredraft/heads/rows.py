"""The keys and values of a head's layers: rows of the text, then the nodes of a draft."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from foredraft.core.types import ROOT
from foredraft.heads.layers import Network, Pass
from foredraft.targets.kv import Slots
from foredraft.targets.masks import Stretch, depths_of, row_masks, sees_all


class RowCache:
    """Says how rows are to be run (`Pass`) and keeps what the layers then store of them.

    Rows that are never run, because a pass failed, are dropped by the next `extend`.
    """

    def __init__(self, network: Network, rotary: Any) -> None:
        self._network = network
        self._rotary = rotary
        self._like = torch.empty(0, dtype=network.dtype, device=network.device)
        self._slots = Slots(network.config)
        self._length = 0
        self._nodes: list[int] = []

    def extend(self, start: int, count: int) -> Pass:
        """To run `count` rows of the text after its first `start`; all nodes are dropped, and what
        lay beyond `start`."""
        self._length, self._nodes = start + count, []
        return self._prepare(start, list(range(ROOT, count - 1)), count)

    def grow(self, parents: Sequence[int]) -> Pass:
        """To run nodes below the text (ROOT) or below earlier nodes."""
        self._nodes += parents
        return self._prepare(self._length, self._nodes, len(parents))

    def _prepare(self, start: int, parents: list[int], count: int) -> Pass:
        """Run the last `count` of the rows that lie after the first `start` slots."""
        visible = start + len(parents)
        self._slots.truncate(visible - count)
        self._slots.before(count, visible)
        depths = depths_of(parents)[-count:]
        positions = torch.tensor([[start + depth for depth in depths]], device=self._like.device)
        rope = self._rotary(self._like, positions)
        return Pass(rope, self._masks(start, parents, count), self._slots.cache)

    def _masks(self, start: int, parents: list[int], count: int) -> Any:
        visible = start + len(parents)
        if parents == list(range(ROOT, len(parents) - 1)):
            last = Stretch(visible - 1, [ROOT], visible)
            if count == 1 and sees_all(self._network.config, last):
                return None
        masks = row_masks(self._network, [Stretch(start, parents, visible)])
        if isinstance(masks, dict):
            return {kind: mask[:, :, -count:] for kind, mask in masks.items()}
        return masks[:, :, -count:]


def waves(parents: Sequence[int], known: int) -> Iterator[slice]:
    """Nodes in runs whose parents all come before the run; `known` nodes were added earlier."""
    done = 0
    while done < len(parents):
        end = next(
            (i for i in range(done, len(parents)) if parents[i] >= known + done), len(parents)
        )
        yield slice(done, end)
        done = end
