"""Exact probability: every branch of a random program with Fractions, no sampling, no tolerance."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from foredraft.core.accept import Chance
from foredraft.core.types import Draft, Verdict
from tests.worlds import Law, Pick, Shape, Text, World, emitted, grow, rows

Result = TypeVar("Result", bound=Hashable)
Rule = Callable[[list[Law], Draft, Chance], Verdict]
Step = Callable[[Text], Mapping[Text, Fraction]]
"""A text → the law of what one step of generation appends to it."""


class Branch:
    """A `Chance` that follows `script`, then always the first option, and notes the others."""

    def __init__(self, script: tuple[int, ...]) -> None:
        self._script = script
        self._taken: list[int] = []
        self.probability = Fraction(1)
        self.others: list[tuple[int, ...]] = []

    def _choose(self, law: Mapping[int, Fraction]) -> int:
        step = len(self._taken)
        if step < len(self._script):
            choice = self._script[step]
        else:
            choice, *rest = law
            self.others += [(*self._taken, other) for other in rest]
        self.probability *= law[choice]
        self._taken.append(choice)
        return choice

    def passes(self, p: Any, q: Any) -> bool:
        if p >= q or p <= 0:
            return bool(p > 0)
        chance = Fraction(p) / q
        return bool(self._choose({1: chance, 0: 1 - chance}))

    def draw(self, weights: Law) -> int:
        total = weights.sum()
        return self._choose({int(i): weights[i] / total for i in np.flatnonzero(weights)})


def outcomes(program: Callable[[Branch], Result]) -> dict[Result, Fraction]:
    """The exact law of what `program` returns, over every choice it leaves to its branch."""
    law: dict[Result, Fraction] = defaultdict(Fraction)
    scripts: list[tuple[int, ...]] = [()]
    while scripts:
        branch = Branch(scripts.pop())
        law[program(branch)] += branch.probability
        scripts += branch.others
    return dict(law)


def joint(step: Step, length: int) -> dict[Text, Fraction]:
    """The law of the first `length` tokens when `step` is repeated until there are enough."""
    pending: dict[Text, Fraction] = defaultdict(Fraction, {(): Fraction(1)})
    done: dict[Text, Fraction] = defaultdict(Fraction)
    while pending:
        text = min(pending, key=len)
        mass = pending.pop(text)
        if len(text) >= length:
            done[text[:length]] += mass
            continue
        for more, chance in step(text).items():
            pending[text + more] += mass * chance
    return dict(done)


def plain(world: World) -> Step:
    """Autoregressive decoding by the target alone: the law that every rule must reproduce."""
    return lambda text: {(token,): mass for token, mass in enumerate(world.p(text)) if mass > 0}


@cache
def drafts(world: World, pick: Pick, shape: Shape, text: Text) -> list[tuple[Draft, Fraction]]:
    """Every draft that may follow `text`, with its probability."""
    seen: dict[tuple[Text, Text], Draft] = {}

    def program(branch: Branch) -> tuple[Text, Text]:
        draft = grow(world.q, shape, pick, lambda _, law: branch.draw(law), text)
        tree = (draft.tokens, draft.parents)
        seen[tree] = draft
        return tree

    return [(seen[tree], mass) for tree, mass in outcomes(program).items()]


def verdicts(
    world: World, rule: Rule, pick: Pick, shape: Shape, text: Text = ()
) -> dict[tuple[Text, Verdict], Fraction]:
    """The law of one round after `text`: what it emits, and the verdict that emitted it."""
    law: dict[tuple[Text, Verdict], Fraction] = defaultdict(Fraction)
    for draft, mass in drafts(world, pick, shape, text):
        judge = partial(rule, rows(world.p, draft, text), draft)
        for verdict, chance in outcomes(judge).items():
            law[emitted(draft, verdict), verdict] += mass * chance
    return dict(law)


def speculative(world: World, rule: Rule, pick: Pick, shape: Shape) -> Step:
    """One round: draft by `pick` in `shape`, judge by `rule`."""

    @cache
    def step(text: Text) -> dict[Text, Fraction]:
        law: dict[Text, Fraction] = defaultdict(Fraction)
        for (more, _), mass in verdicts(world, rule, pick, shape, text).items():
            law[more] += mass
        return law

    return step


def gap(world: World, step: Step, length: int, first_only: bool = False) -> Fraction:
    """Total variation between `length` tokens by `step` and by the target alone: 0 is exact.

    `first_only` lets the target continue after the first round, which by induction proves all.
    """
    alone = plain(world)

    def ours_then_alone(text: Text) -> Mapping[Text, Fraction]:
        return alone(text) if first_only and text else step(text)

    zero = Fraction(0)
    ours, theirs = joint(ours_then_alone, length), joint(alone, length)
    both = [(ours.get(text, zero), theirs.get(text, zero)) for text in ours.keys() | theirs.keys()]
    return sum((abs(a - b) for a, b in both), zero) / 2


def mean_accepted(world: World, rule: Rule, pick: Pick, shape: Shape) -> Fraction:
    """Expected draft tokens kept in a round that starts the text."""
    law = verdicts(world, rule, pick, shape)
    return sum((mass * len(verdict.path) for (_, verdict), mass in law.items()), Fraction(0))
