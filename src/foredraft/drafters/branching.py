"""Trees of draft tokens, whatever network gives their logits: grown where tokens are likely, or
drawn in a shape that was fixed before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.sequence import TextSequence
from foredraft.core.tree import likeliest, subtree
from foredraft.core.types import ROOT, Draft, FloatArray, IntArray, LogitArray
from foredraft.drafters.base import GoOn
from foredraft.drafters.chain import probability

Grow = Callable[[Sequence[int], Sequence[int]], LogitArray]
"""HeadState.grow."""
_CHILDREN = 8
"""The most children of a node: what comes after them is hardly ever the text."""
_LEAST = 1e-3
"""How likely a child must be beside the likeliest."""


@dataclass(slots=True)
class _Tree:
    """A draft in the making; `place[node]` is where the network has it, once it was grown."""

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    evidence: list[float] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=lambda: {ROOT: ROOT})

    def add(self, token: int, parent: int, evidence: float) -> None:
        self.tokens.append(token)
        self.parents.append(parent)
        self.evidence.append(evidence)

    def path(self, node: int) -> list[int]:
        """The tokens from the root down to a node."""
        found: list[int] = []
        while node != ROOT:
            found.append(self.tokens[node])
            node = self.parents[node]
        return found[::-1]

    def grow(self, grow: Grow, nodes: Sequence[int]) -> LogitArray:
        """Logits after each of `nodes`, whose parents have grown."""
        logits = grow(
            [self.tokens[node] for node in nodes],
            [self.place[self.parents[node]] for node in nodes],
        )
        for node in nodes:
            self.place[node] = len(self.place) - 1
        return logits


def grown(
    sequence: TextSequence,
    logits: LogitArray,
    grow: Grow,
    limit: int,
    depth: int,
    width: int,
    go_on: GoOn,
    greedy: bool,
    source: str,
) -> Draft:
    """The likeliest `limit` tokens below the text, at most `depth` deep, none of them drawn: level
    by level the `width` likeliest nodes are continued, as in EAGLE-2 (2406.16858).

    The evidence of a token is its share of q; where the noise of the target's own draw is known
    (`coupled`), of q / noise, which that draw is the largest of. `greedy` leaves the noise out.
    `go_on` hears, of each level, the share that its nodes have of what those above them had.
    """
    tree, reached = _Tree(), list[float]()
    held, shares = 1.0, list[float]()
    level, following = [ROOT], logits[None]
    for below in range(depth):
        noise = None if greedy else _noise(sequence, below, logits.size)
        fresh = []
        for node, row in zip(level, following, strict=True):
            above = 1.0 if node == ROOT else reached[node]
            for token, share in _front(sequence, tree.path(node), row, noise):
                fresh.append(len(reached))
                reached.append(above * share)
                tree.add(token, node, share)
        best = set(likeliest(reached)[:limit])
        level = sorted((n for n in fresh if n in best), key=lambda n: -reached[n])[:width]
        if below + 1 == depth or not level:
            break
        before, held = held, sum(reached[node] for node in level)
        shares.append(held / before)
        if not go_on(shares):
            break
        following = tree.grow(grow, level)
    whole = Draft(tuple(tree.tokens), tuple(tree.parents), None, source, tuple(tree.evidence))
    return subtree(whole, likeliest(reached)[:limit])


def drawn(
    sequence: TextSequence, logits: LogitArray, grow: Grow, shape: Sequence[int], source: str
) -> Draft:
    """A tree of `shape` whose siblings are drawn without replacement, the q of each as it was drawn
    after its elders: recursive rejection and traversal judge it exactly.

    No token decides whether another is there, so the shape must be fixed before; only where q has
    no more tokens a place stays empty. The evidence of a token is as in `drawing`.
    """
    tree, laws = _Tree(), list[FloatArray]()
    children: dict[int, list[int]] = {}
    for place, parent in enumerate(shape):
        children.setdefault(parent, []).append(place)
    level, following = [(ROOT, ROOT)], logits[None]  # (node, its place in the shape)
    while True:
        fresh = []
        for (node, place), row in zip(level, following, strict=True):
            before = tree.path(node)
            try:
                rest = sequence.law(row, before).copy()
            except ForedraftError:  # all that a grammar allows here are rows the network lacks
                continue
            tokens = sequence.noise.draw_siblings(rest, len(children[place]))
            for token, child in zip(tokens, children[place], strict=False):
                laws.append(rest / rest.sum())
                rest[token] = 0
                fresh.append((len(tree.tokens), child))
                tree.add(token, node, probability(row, token))
        level = [one for one in fresh if one[1] in children]
        if not level:
            break
        following = tree.grow(grow, [node for node, _ in level])
    return Draft(tuple(tree.tokens), tuple(tree.parents), laws, source, tuple(tree.evidence))


def _noise(sequence: TextSequence, below: int, size: int) -> FloatArray | None:
    """What the target's draw at a position will weigh its law by, if that can be known."""
    if sequence.params.is_greedy or not sequence.noise.coupled:
        return None
    return sequence.noise.at(len(sequence.tokens) + below, np.arange(size))


def _front(
    sequence: TextSequence, before: Sequence[int], logits: LogitArray, noise: FloatArray | None
) -> list[tuple[int, float]]:
    """The likeliest tokens after `before`, each with its share."""
    try:
        q = sequence.law(logits, before, sequence.params.reported)
    except ForedraftError:
        return []
    weights = q if noise is None else q / noise
    able: IntArray = np.flatnonzero(weights > _LEAST * weights.max())
    ids = able[np.argsort(-weights[able], kind="stable")[:_CHILDREN]]
    total = weights.sum()
    return [(int(i), float(weights[i] / total)) for i in ids]
