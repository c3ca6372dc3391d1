"""Toy targets and drafts whose laws depend on the whole text, and ways to draft from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from foredraft.core.accept import Draw
from foredraft.core.types import ROOT, Draft, Verdict

Law = npt.NDArray[Any]
"""[V], of Fractions in exact tests and of float64 in statistical ones."""
Text = tuple[int, ...]
LawAfter = Callable[[Text], Law]
Shape = tuple["Shape", ...]
"""A draft's tree: one entry a child, each with its own children; () is a leaf."""
Drawer = Callable[[Law], int]
Child = tuple[int, Law | None] | None
"""A token and the law it is said to be drawn from (None: it was not drawn), or no child at all."""
Pick = Callable[[Drawer, Law, Sequence[int]], Child]
"""(draw, q, earlier siblings) → the next sibling."""


@dataclass(frozen=True)
class World:
    """A target p and a draft q: a law over `size` tokens after any text."""

    size: int
    p: LawAfter
    q: LawAfter

    def as_floats(self) -> "World":
        return World(self.size, floats(self.p), floats(self.q))


def floats(law: LawAfter) -> LawAfter:
    return cache(lambda text: law(text).astype(float))


def fractions(*weights: int | Fraction) -> Law:
    """Weights → an exact law."""
    total = Fraction(sum(weights))
    return np.array([weight / total for weight in weights], dtype=object)


def varied(size: int, name: str, low: int, high: int) -> LawAfter:
    """A law of small random weights after each text; `name` seeds it."""

    @cache
    def law(text: Text) -> Law:
        rng = Random(f"{name}{size}{text}")
        while not any(weights := [rng.randint(low, high) for _ in range(size)]):
            pass
        return fractions(*weights)

    return law


def hot(size: int, name: str) -> LawAfter:
    """A law that is certain of one token, another one after each text."""
    return lambda text: one_hot(size, Random(f"{name}{size}{text}").randrange(size))


@cache
def worlds(size: int) -> dict[str, World]:
    """The cases in which acceptance rules go wrong, by name."""
    some, other = varied(size, "p", 1, 6), varied(size, "q", 1, 6)
    odd = np.arange(size) % 2
    pairs = {
        "positive": (some, other),
        "zeros": (varied(size, "p", 0, 2), varied(size, "q", 0, 2)),
        "ties": (varied(size, "p", 1, 2), varied(size, "q", 1, 2)),
        "p = q": (some, some),
        "disjoint": (lambda text: fractions(*(1 - odd)), lambda text: fractions(*odd)),
        "certain draft": (some, hot(size, "q")),
        "certain target": (hot(size, "p"), other),
    }
    return {name: World(size, p, q) for name, (p, q) in pairs.items()}


def chain(length: int) -> Shape:
    return (chain(length - 1),) if length else ()


def one_hot(size: int, token: int) -> Law:
    return fractions(*(int(i == token) for i in range(size)))


def without(law: Law, tokens: Sequence[int]) -> Law | None:
    """`law` given that it is none of `tokens`; None where nothing is left."""
    rest = law.copy()
    rest[list(tokens)] *= 0
    return rest / rest.sum() if rest.sum() > 0 else None


def grow(q: LawAfter, shape: Shape, pick: Pick, draw: Draw, text: Text = ()) -> Draft:
    """A draft after `text` in `shape`, its children chosen by `pick`."""
    tokens: list[int] = []
    parents: list[int] = []
    laws: list[Law | None] = []

    def add(parent: int, text: Text, shape: Shape) -> None:
        earlier: list[int] = []
        for below in shape:
            child = pick(lambda law: draw(len(text), law), q(text), earlier)
            if child is None:
                continue
            token, law = child
            earlier.append(token)
            tokens.append(token)
            parents.append(parent)
            laws.append(law)
            add(len(tokens) - 1, (*text, token), below)

    add(ROOT, text, shape)
    known = [law for law in laws if law is not None]
    return Draft(tuple(tokens), tuple(parents), known if len(known) == len(laws) else None, "test")


def text_at(draft: Draft, node: int, text: Text) -> Text:
    """The text that ends with `node` of a draft after `text`."""
    if node == ROOT:
        return text
    return (*text_at(draft, draft.parents[node], text), draft.tokens[node])


def rows(p: LawAfter, draft: Draft, text: Text) -> list[Law]:
    """The target's law after each row, as the rules take it."""
    return [p(text_at(draft, node, text)) for node in range(ROOT, len(draft))]


def emitted(draft: Draft, verdict: Verdict) -> Text:
    return (*(draft.tokens[node] for node in verdict.path), verdict.token)


def sampled(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    """Drawn without replacement: each sibling's law is q given that it is none before it."""
    rest = without(q, earlier)
    return None if rest is None else (draw(rest), rest)


def repeated(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    """Drawn with replacement, duplicates kept."""
    return draw(q), q


def merged(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    """Drawn with replacement, duplicates merged: what is left was drawn from the rest of q."""
    token = draw(q)
    return None if token in earlier else (token, without(q, earlier))


def ranked(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    """The most likely tokens in order, not drawn at all."""
    rest = without(q, earlier)
    return None if rest is None else (int(np.argmax(rest)), None)


def mixed(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    """The most likely token first, whose law is one-hot, then draws from the rest."""
    if earlier:
        return sampled(draw, q, earlier)
    best = int(np.argmax(q))
    return best, q * 0 + (np.arange(q.size) == best)
