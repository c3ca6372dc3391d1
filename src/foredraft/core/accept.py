"""Every acceptance rule, as a pure function of the laws p and q and an injected source of chance.

`p` is the target's law after each row: p[0] follows the last committed token and p[i + 1] follows
draft node i. `draft.q[i]` is the law node i was drawn from. All rules emit tokens distributed
exactly as the target alone would; they differ in how many draft tokens they keep.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from foredraft.core.types import ROOT, Draft, FloatArray, Laws, Verdict


class Chance(Protocol):
    """Fresh randomness, independent of how the draft was drawn; tests enumerate it instead."""

    def passes(self, p: float, q: float) -> bool:
        """Whether u·q < p for a fresh uniform u in [0, 1): strict, so p = 0 never passes."""

    def draw(self, weights: FloatArray) -> int:
        """An index drawn in proportion to `weights` [V], which need not sum to one."""


Draw = Callable[[int, FloatArray], int]
"""(depth below the last committed token, p at that depth [V]) → the target's own token there."""


def match(p: Laws, draft: Draft, draw: Draw) -> Verdict:
    """Draw the target's own token at each node and walk on while the draft holds it.

    Exact for any proposal, however it was made, because every emitted token is a draw from p.
    With one draw a *node* (not a path), siblings share it. Under `coupled` the draw is a function
    of seed and position alone, so the text does not depend on the drafter.
    """
    children = draft.children()
    path: list[int] = []
    node = ROOT
    while True:
        token = draw(len(path), p[node + 1])
        below = children.get(node, [])
        node = next((child for child in below if draft.tokens[child] == token), ROOT)
        if node == ROOT:
            return Verdict(tuple(path), token, len(below))
        path.append(node)


def rejection(p: Laws, draft: Draft, chance: Chance) -> Verdict:
    """Token-level speculative sampling, on a chain or a tree (Leviathan 2211.17192, Alg. 1).

    At each node the children are tried in order against the current law, which becomes the
    residual norm(max(0, p − q)) after each refusal (recursive rejection, SpecInfer and RSD).
    """
    children = draft.children()
    path: list[int] = []
    node, law = ROOT, p[0]
    while True:
        below = children.get(node, [])
        for child in below:
            token = draft.tokens[child]
            if chance.passes(law[token], 1 if draft.q is None else draft.q[child][token]):
                break
            law = _normalised(_excess(1, law, draft, child), law)
        else:
            return Verdict(tuple(path), chance.draw(law), len(below))
        path.append(child)
        node, law = child, p[child + 1]


def block(p: Laws, draft: Draft, chance: Chance) -> Verdict:
    """Block verification of a chain (Sun et al. 2403.10444): judges the whole run jointly.

    Accepts at least as many tokens in expectation as `rejection`, and the most any exact chain
    rule can. Every position is judged, also after one that failed.
    """
    if not draft.is_chain:
        raise ValueError("block verification needs a chain; use traversal for a tree")
    return traversal(p, draft, chance)


@dataclass(slots=True)
class _Walk:
    """The leaf-to-root recursion of traversal verification over one draft."""

    p: Laws
    draft: Draft
    chance: Chance
    children: dict[int, list[int]]

    def visit(self, node: int, credit: float) -> tuple[list[int], FloatArray] | None:
        """The accepted path from `node` down and the law of the next token, or None if refused.

        `credit` is the probability that `node` is a prefix of the output, given that it was
        drafted and all that was refused before it was visited.
        """
        law = self.p[node + 1]
        for child in self.children.get(node, []):
            token = self.draft.tokens[child]
            q = 1 if self.draft.q is None else self.draft.q[child][token]
            below = self.visit(child, min(1, credit * law[token] / q))
            if below is not None:
                return ([child, *below[0]], below[1])
            excess = _excess(credit, law, self.draft, child)
            total = excess.sum()
            law = _normalised(excess, law)
            # 0/0 means nothing was left to refuse: a sure node stays sure.
            credit = total / (total + 1 - credit) if total + 1 - credit > 0 else 1
        if node == ROOT or self.chance.passes(credit, 1):
            return ([], law)
        return None


def traversal(p: Laws, draft: Draft, chance: Chance) -> Verdict:
    """Leaf-to-root verification of a tree (2505.12398); on a chain it is block verification.

    A node refused on its own merits can still be kept as part of a longer accepted path.
    Recurrence and proof: docs/exactness.md, "Traversal".
    """
    walk = _Walk(p, draft, chance, draft.children())
    outcome = walk.visit(ROOT, 1)
    assert outcome is not None  # the root is the committed prefix and is never refused
    path, law = outcome
    ended = path[-1] if path else ROOT
    return Verdict(tuple(path), chance.draw(law), len(walk.children.get(ended, [])))


def _excess(credit: float, law: FloatArray, draft: Draft, child: int) -> FloatArray:
    """max(0, credit·law − q of `child`), unnormalised [V]; q is one-hot for unsampled drafts."""
    if draft.q is not None:
        return np.maximum(credit * law - draft.q[child], 0)
    excess = credit * law
    excess[draft.tokens[child]] = max(0, excess[draft.tokens[child]] - 1)
    return excess


def _normalised(residual: FloatArray, fallback: FloatArray) -> FloatArray:
    """`residual` / its sum; `fallback` when p and q agree up to rounding and nothing is left."""
    total = residual.sum()
    return residual / total if total > 0 else fallback
