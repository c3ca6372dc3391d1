"""The bugs that speculative decoders have had: the suite's own checkers must catch each of them.

`exact` enumerates (tests/exact.py) and `fits` samples (fit.py): the same functions that hold for
the right rules in the other tests. A checker that passes a mutant proves nothing.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from foredraft.core.accept import Chance, block, match, rejection, traversal
from foredraft.core.noise import Noise
from foredraft.core.types import ROOT, Draft, Verdict
from tests.exact import Rule, gap, speculative
from tests.statistical.fit import FALSE_ALARM, Judge, fit, fresh, power
from tests.worlds import (
    Child,
    Drawer,
    Law,
    Pick,
    Shape,
    World,
    chain,
    fractions,
    ranked,
    repeated,
    sampled,
    varied,
    without,
    worlds,
)

SIBLINGS: Shape = ((), ())
UNEVEN: Shape = (((), ()), ())


def exact(rule: Rule, pick: Pick, shape: Shape) -> bool:
    """Whether a round emits the target's law exactly in every world of three and four tokens."""
    return all(
        gap(world, speculative(world, rule, pick, shape), length=3, first_only=True) == 0
        for world in (*worlds(3).values(), *worlds(4).values())
    )


# Drafts that misreport q, or choose by the token they drew. #


def argmax_said_to_be_drawn(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    return int(np.argmax(q)), q


def temperature_left_out_of_q(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    return draw(q * q / (q * q).sum()), q


def truncation_left_out_of_q(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    return draw(q * (q >= sorted(q)[-2])), q


def dropped_when_unlikely(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    token = draw(q)
    return (token, q) if q[token] >= 0.3 else None


def vocabulary_off_by_one(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    return (draw(q) + 1) % len(q), q


def sibling_not_renormalised(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    rest = without(q, earlier)
    return None if rest is None else (draw(rest), q * (rest > 0))


def duplicates_merged_but_q_kept(draw: Drawer, q: Law, earlier: Sequence[int]) -> Child:
    token = draw(q)
    return None if token in earlier else (token, q)


@pytest.mark.parametrize(
    ("pick", "shape"),
    [
        (argmax_said_to_be_drawn, chain(2)),
        (temperature_left_out_of_q, chain(2)),
        (truncation_left_out_of_q, chain(2)),
        (dropped_when_unlikely, chain(2)),
        (vocabulary_off_by_one, chain(2)),
        (sibling_not_renormalised, SIBLINGS),
        (duplicates_merged_but_q_kept, SIBLINGS),
    ],
)
@pytest.mark.parametrize("rule", [rejection, traversal])
def test_a_draft_that_misreports_is_caught(rule: Rule, pick: Pick, shape: Shape) -> None:
    assert exact(rule, sampled, shape)
    assert not exact(rule, pick, shape)


# Rules that judge or redraw wrongly. #


def mutant(
    residual: Callable[[Law, Law], Law] = lambda p, q: np.maximum(p - q, 0),
    bonus: Callable[[Law], Law] = lambda p: p,
) -> Rule:
    """Token-level rejection on a chain, with a residual and a bonus law of one's own."""

    def rule(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
        assert draft.q is not None
        for i, token in enumerate(draft.tokens):
            if not chance.passes(p[i][token], draft.q[i][token]):
                rest = residual(p[i], draft.q[i])
                return Verdict(tuple(range(i)), chance.draw(rest if rest.any() else p[i]), 1)
        return Verdict(tuple(range(len(draft))), chance.draw(bonus(p[-1])), 0)

    return rule


@pytest.mark.parametrize(
    "rule",
    [
        mutant(residual=lambda p, q: p),
        mutant(residual=lambda p, q: abs(p - q)),
        mutant(residual=lambda p, q: p * (p > q)),
        # p is the law at temperature 2, and p² that at temperature 1.
        mutant(bonus=lambda p: p * p),
    ],
    ids=["residual p", "residual not clipped", "residual not reduced", "bonus at temperature 1"],
)
def test_a_wrong_redraw_is_caught(rule: Rule) -> None:
    assert exact(mutant(), sampled, chain(2))
    assert not exact(rule, sampled, chain(2))


def penalties_blind_to_the_draft(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
    return rejection([p[0]] * len(p), draft, chance)


def block_stopping_at_a_failure(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
    return judge_block(p, draft, chance, stop=True)


def block_without_credit_in_the_residual(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
    return judge_block(p, draft, chance, credited=False)


def judge_block(
    p: list[Law], draft: Draft, chance: Chance, stop: bool = False, credited: bool = True
) -> Verdict:
    """Block verification from the first position to the last, right unless asked otherwise."""
    assert draft.q is not None
    credit, kept, law, last = Fraction(1), 0, p[0], len(draft)
    for i in range(last + 1):
        if i > 0:
            token = draft.tokens[i - 1]
            credit = min(Fraction(1), credit * p[i - 1][token] / draft.q[i - 1][token])
        excess = p[i] if i == last else np.maximum(credit * p[i] - draft.q[i], 0)
        rest = excess.sum() + 1 - credit
        sure: Any = credit if i == last else excess.sum() / rest if rest else 1
        if i == 0 or chance.passes(sure, 1):
            kept, law = i, excess if excess.any() else p[i]
            if not credited and i < last and np.maximum(p[i] - draft.q[i], 0).any():
                law = np.maximum(p[i] - draft.q[i], 0)
        elif stop:
            break
    return Verdict(tuple(range(kept)), chance.draw(law), int(kept < last))


@pytest.mark.parametrize(
    "rule",
    [
        penalties_blind_to_the_draft,
        block_stopping_at_a_failure,
        block_without_credit_in_the_residual,
    ],
)
def test_a_wrong_chain_rule_is_caught(rule: Rule) -> None:
    assert exact(judge_block, sampled, chain(2))
    assert not exact(rule, sampled, chain(2))


def judge_tree(divisor: Callable[[Any, Any, Any], Any]) -> Rule:
    """Traversal whose credit after a refusal is R / divisor(R, credit, q of the token)."""

    def rule(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
        assert draft.q is not None
        q, children = draft.q, draft.children()

        def visit(node: int, credit: Any) -> tuple[list[int], Law] | None:
            law = p[node + 1]
            for child in children.get(node, []):
                token = draft.tokens[child]
                below = visit(child, min(1, credit * law[token] / q[child][token]))
                if below:
                    return [child, *below[0]], below[1]
                excess = np.maximum(credit * law - q[child], 0)
                total = excess.sum()
                law = excess / total if total else law
                rest = divisor(total, credit, q[child][token])
                credit = min(1, total / rest) if rest else 1
            return ([], law) if node == ROOT or chance.passes(credit, 1) else None

        path, law = visit(ROOT, 1) or ([], p[0])
        return Verdict(tuple(path), chance.draw(law), 0)

    return rule


def test_traversal_divided_by_what_was_not_drafted_is_caught() -> None:
    """Seen in a third-party implementation: 1 − Q(c) in place of R + 1 − credit."""
    for shape in (chain(2), UNEVEN):
        assert exact(judge_tree(lambda total, credit, q: total + 1 - credit), sampled, shape)
        assert not exact(judge_tree(lambda total, credit, q: 1 - q), sampled, shape)


def one_draw_a_path(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
    """Match acceptance with a fresh draw of the target for each sibling."""
    for child, token in enumerate(draft.tokens):
        drawn = chance.draw(p[0])
        if drawn == token:
            return Verdict((child,), chance.draw(p[child + 1]), 0)
    return Verdict((), drawn, len(draft))


def test_a_draw_a_path_is_caught() -> None:
    def one_draw_a_node(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
        return match(p, draft, lambda _, law: chance.draw(law))

    assert exact(one_draw_a_node, ranked, SIBLINGS)
    assert not exact(one_draw_a_path, ranked, SIBLINGS)


RAW = fractions(4, 3, 2, 1)


def top_two(law: Law) -> Law:
    return fractions(*law * (law >= sorted(law)[-2]))


class _TruncatingAtLast:
    """A chance that applies top-p only to what is drawn last."""

    def __init__(self, chance: Chance) -> None:
        self.passes = chance.passes
        self.draw = lambda weights: chance.draw(top_two(weights / weights.sum()))


def test_top_p_that_misses_the_ratio_is_caught() -> None:
    """p must be truncated before p/q: not on q alone, and not on the residual and bonus alone."""

    def on_q_only(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
        return rejection([RAW] * len(p), draft, chance)

    def after_the_ratio(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
        return rejection([RAW] * len(p), draft, _TruncatingAtLast(chance))

    world = World(4, lambda _: top_two(RAW), lambda _: top_two(fractions(3, 1, 2, 4)))
    wide = World(4, world.p, lambda _: fractions(1, 1, 1, 1))
    for case, rule, right in (
        (world, rejection, True),
        (wide, rejection, True),
        (world, on_q_only, False),
        (wide, after_the_ratio, False),
    ):
        assert (gap(case, speculative(case, rule, sampled, chain(2)), 3) == 0) == right


# Randomness used twice. #

WORLD = World(3, varied(3, "target", 1, 6), varied(3, "draft", 1, 6))
N = 3_000


def fits(judge: Judge, coupled: bool = False) -> bool:
    """Whether 3000 texts of three tokens pass for the target's; see `power` below."""
    noise = Noise(11, coupled)
    return fit(WORLD, judge, sampled, chain(2), N, lambda _: noise) > FALSE_ALARM


class OneUniform:
    """A chance whose uniform is drawn once: for all positions, or for the redraw as well."""

    def __init__(self, chance: Noise, fresh_test: bool, fresh_redraw: bool) -> None:
        self.chance, self.fresh_test, self.fresh_redraw = chance, fresh_test, fresh_redraw
        self.uniform = chance._judging.random()

    def passes(self, p: float, q: float) -> bool:
        if self.fresh_test:
            self.uniform = self.chance._judging.random()
        return self.uniform * q < p

    def draw(self, weights: Law) -> int:
        if self.fresh_redraw:
            return self.chance.draw(weights)
        total = np.cumsum(weights)
        return int(np.searchsorted(total, self.uniform * total[-1], side="right"))


def reusing(fresh_test: bool, fresh_redraw: bool) -> Judge:
    return lambda p, draft, noise, here: rejection(
        p, draft, OneUniform(noise, fresh_test, fresh_redraw)
    )


def redrawn_with_the_drafts_noise(p: list[Law], draft: Draft, noise: Noise, here: int) -> Verdict:
    """The residual raced with the noise that the draft was raced with."""

    class Shared:
        passes = noise.passes

        def draw(self, weights: Law) -> int:
            return noise.draw_target(here, weights)

    return rejection(p, draft, Shared())


def test_the_power_of_three_thousand_texts() -> None:
    assert power(N, tv=0.09, bins=27) > 0.99


def test_a_uniform_used_twice_is_caught() -> None:
    assert fits(fresh(rejection))
    assert fits(reusing(fresh_test=True, fresh_redraw=True))
    assert not fits(reusing(fresh_test=False, fresh_redraw=True)), "one for all positions"
    assert not fits(reusing(fresh_test=True, fresh_redraw=False)), "the test's for the redraw"


def test_noise_shared_by_draft_and_redraw_is_caught() -> None:
    assert not fits(redrawn_with_the_drafts_noise, coupled=True)


def test_sampling_catches_gross_mutants_too() -> None:
    """The chi-square alone, as used on real models, sees the worst of the bugs above."""
    assert fits(fresh(block))
    assert not fits(fresh(mutant(residual=lambda p, q: p)))
    assert not fits(fresh(mutant(bonus=lambda p: p * p)))


def test_a_test_that_is_not_strict_is_caught() -> None:
    """u is 0 once in 2⁵³ draws, and must not let a token of probability 0 pass."""

    def refuses_the_impossible(passes: Callable[[float, float], bool]) -> bool:
        return not passes(0.0, 0.5)

    class Zero:
        def random(self) -> float:
            return 0.0

    noise = Noise(0, coupled=False)
    noise._judging = Zero()  # type: ignore[assignment]
    assert refuses_the_impossible(noise.passes)
    assert not refuses_the_impossible(lambda p, q: noise._judging.random() * q <= p)
    assert noise.passes(1e-300, 0.5)


def test_repeated_siblings_with_their_own_law_are_right() -> None:
    """The control of `duplicates_merged_but_q_kept`: kept duplicates are judged against q."""
    assert exact(rejection, repeated, SIBLINGS)
