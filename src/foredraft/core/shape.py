"""The tree a draft should be when its shape is decided before any of its tokens is known."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from foredraft.core.types import ROOT, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Shape:
    """A tree without tokens, level by level: parents come before children, likelier siblings first.

    `depth` levels; `tokens` of it are expected to be accepted.
    """

    parents: tuple[int, ...]
    depth: int
    tokens: float

    @property
    def is_chain(self) -> bool:
        return self.depth == len(self.parents)

    @property
    def width(self) -> int:
        """Nodes a level, rounded up."""
        return -(-len(self.parents) // self.depth)


def best_shape(
    ranks: Sequence[float], rows: Sequence[float], levels: Sequence[float], rate: float
) -> Shape:
    """The tree that gains most tokens above what its time brings at `rate` tokens per second; one
    node is the least.

    `ranks[b]`: P(a node's child b is accepted | the node is, its elder children are not), as in
    Sequoia (2402.12374). `rows[n]`: seconds to verify n nodes, `levels[d]`: to draft d levels; as
    long as they are, so large a tree may be.
    """
    best: tuple[_Grown, int] | None = None
    most = float("-inf")
    known = tuple(round(rank, 2) for rank in ranks)
    verify, draft = np.array(rows[1:]), np.array(levels)
    for depth in range(1, len(levels)):
        grown = _grown(known, len(verify), depth)
        gains = grown.tokens - rate * (verify[: len(grown.tokens)] + draft[grown.depth])
        count = int(gains.argmax())
        if gains[count] > most:
            best, most = (grown, count + 1), float(gains[count])
        if grown.depth[-1] < depth:
            break  # a deeper tree would be the same
    assert best is not None
    return best[0].first(best[1])


@dataclass(frozen=True, slots=True)
class _Grown:
    """Nodes as they were added: with how many levels and expected tokens there were by then."""

    parents: list[int]
    depth: IntArray
    tokens: FloatArray

    def first(self, count: int) -> Shape:
        """The tree of the first nodes."""
        depths: list[int] = []
        for parent in self.parents[:count]:
            depths.append(1 + (0 if parent == ROOT else depths[parent]))
        order = sorted(range(count), key=lambda node: depths[node])
        places = {ROOT: ROOT} | {node: place for place, node in enumerate(order)}
        parents = tuple(places[self.parents[node]] for node in order)
        return Shape(parents, max(depths), float(self.tokens[count - 1]))


@lru_cache(maxsize=256)
def _grown(ranks: tuple[float, ...], nodes: int, depth: int) -> _Grown:
    """Nodes by falling chance of being accepted: the first n are the best tree of that size,
    because the chances add up and none is larger than its parent's or its elder sibling's."""
    own: list[float] = []
    refused = 1.0
    for rank in ranks:  # P(child b is accepted | its parent is); noise must not make it rise
        own.append(min([*own[-1:], rank * refused]))
        refused *= 1 - rank
    parents: list[int] = []
    depths: list[int] = []
    chances: list[float] = []
    queue = [(-own[0], 0, ROOT, 0, 1)]
    while queue and len(parents) < nodes:
        chance, _, parent, rank, level = heapq.heappop(queue)
        node = len(parents)
        parents.append(parent)
        depths.append(level)
        chances.append(-chance)
        if rank + 1 < len(own):
            above = 1.0 if parent == ROOT else chances[parent]
            heapq.heappush(queue, (-above * own[rank + 1], node, parent, rank + 1, level))
        if level < depth:
            heapq.heappush(queue, (chance * own[0], node, node, 0, level + 1))
    return _Grown(parents, np.maximum.accumulate(depths), np.cumsum(chances))
