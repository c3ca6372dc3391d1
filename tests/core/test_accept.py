"""Every acceptance rule, enumerated exactly: what is emitted has the target's own law."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from foredraft.core.accept import Chance, block, match, rejection, traversal
from foredraft.core.types import ROOT, Draft, Verdict
from tests.exact import (
    Rule,
    drafts,
    gap,
    joint,
    mean_accepted,
    outcomes,
    plain,
    speculative,
    verdicts,
)
from tests.worlds import (
    Law,
    Pick,
    Shape,
    Text,
    World,
    chain,
    emitted,
    fractions,
    merged,
    mixed,
    one_hot,
    ranked,
    repeated,
    rows,
    sampled,
    varied,
    worlds,
)


def matching(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
    """`match` with fresh draws."""
    return match(p, draft, lambda _, law: chance.draw(law))


CHAINS: list[tuple[int, Shape]] = [(3, chain(3)), (4, chain(2)), (5, chain(1))]
TREES: list[tuple[int, Shape]] = [
    (4, ((), (), ())),
    (3, (((),), ((),))),
    (3, (((), ()), ((),))),
    (3, ((((),),), ())),
]


@pytest.mark.parametrize("rule", [matching, rejection, block])
@pytest.mark.parametrize(("size", "shape"), CHAINS)
@pytest.mark.parametrize("pick", [sampled, ranked, mixed])
def test_a_chain_is_exact(rule: Rule, size: int, shape: Shape, pick: Pick) -> None:
    for name, world in worlds(size).items():
        step = speculative(world, rule, pick, shape)
        assert gap(world, step, length=3, first_only=True) == 0, name


@pytest.mark.parametrize(
    ("rule", "pick"),
    [
        *product([rejection, traversal], [sampled, repeated, merged, ranked, mixed]),
        *product([matching], [repeated, ranked]),
    ],
)
@pytest.mark.parametrize(("size", "shape"), TREES)
def test_a_tree_is_exact(rule: Rule, size: int, shape: Shape, pick: Pick) -> None:
    for name, world in worlds(size).items():
        step = speculative(world, rule, pick, shape)
        assert gap(world, step, length=3, first_only=True) == 0, name


@pytest.mark.parametrize("rule", [matching, rejection, block])
def test_rounds_continue_exactly(rule: Rule) -> None:
    for name, world in worlds(3).items():
        assert gap(world, speculative(world, rule, sampled, chain(2)), length=4) == 0, name


def test_no_draft_is_plain_decoding() -> None:
    world = worlds(4)["zeros"]
    for rule in (matching, rejection, block, traversal):
        assert gap(world, speculative(world, rule, sampled, ()), length=2) == 0


def test_a_draft_may_stop_by_what_it_has_drawn_so_far() -> None:
    """Whether a token is drafted may depend on everything before it, never on the token."""

    def confident(draw: Callable[[Law], int], q: Law, earlier: object) -> tuple[int, Law] | None:
        return (draw(q), q) if q.max() > Fraction(2, 5) else None

    for rule in (rejection, block):
        for name, world in worlds(3).items():
            step = speculative(world, rule, confident, chain(2))
            assert gap(world, step, length=3, first_only=True) == 0, name


def test_a_truncated_draft_is_exact_when_it_says_so() -> None:
    def top_two(draw: Callable[[Law], int], q: Law, earlier: object) -> tuple[int, Law]:
        kept = q * (q >= sorted(q)[-2])
        kept = kept / kept.sum()
        return draw(kept), kept

    world = worlds(4)["positive"]
    for rule in (rejection, block):
        step = speculative(world, rule, top_two, chain(2))
        assert gap(world, step, length=3, first_only=True) == 0


DRAFTS: dict[str, Callable[[Text, Text], Text]] = {
    "constant": lambda text, own: (0, 0),
    "right": lambda text, own: own[len(text) :],
    "right, then wrong": lambda text, own: (*own[len(text) : -1], (own[-1] + 1) % 3),
    "wrong": lambda text, own: tuple((token + 1) % 3 for token in own[len(text) :]),
    "anything": lambda text, own: tuple(Random(f"{text}{own}").choices(range(3), k=2)),
}


@pytest.mark.parametrize("propose", DRAFTS.values(), ids=DRAFTS)
def test_coupled_text_is_the_targets_own_whatever_the_draft(
    propose: Callable[[Text, Text], Text],
) -> None:
    """Even a draft that sees the noise: for all noise the text is the plain one, hence its law.

    The noise of a position is one of six equal faces, enough for any p in sixths.
    """

    def p(text: Text) -> Law:
        return fractions(*Random(str(text)).sample([1, 2, 3], 3))

    def draw(face: Text, position: int, law: Law) -> int:
        return int(np.searchsorted(np.cumsum(law) * 6, face[position], side="right"))

    law: dict[Text, Fraction] = {}
    for faces in product(range(6), repeat=3):
        own: Text = ()
        while len(own) < 3:
            own = (*own, draw(faces, len(own), p(own)))
        text: Text = ()
        while len(text) < 3:
            draft = Draft.chain(propose(text, own))
            ahead = (*faces[len(text) :], 0, 0)
            verdict = match(rows(p, draft, text), draft, partial(draw, ahead))
            text += emitted(draft, verdict)
        assert text[:3] == own
        law[own] = law.get(own, Fraction(0)) + Fraction(1, 6**3)
    assert law == joint(plain(World(3, p, p)), 3)


def test_one_token_is_accepted_with_probability_one_minus_tv() -> None:
    for size in (3, 4, 5):
        for world in worlds(size).values():
            p, q = world.p(()), world.q(())
            tv = np.abs(p - q).sum() / 2
            for rule in (rejection, block):
                assert mean_accepted(world, rule, sampled, chain(1)) == 1 - tv
            assert mean_accepted(world, matching, sampled, chain(1)) == (p * q).sum()


def test_a_certain_draft_is_accepted_as_often_by_every_rule() -> None:
    world = worlds(3)["certain draft"]
    lengths = {mean_accepted(world, r, sampled, chain(3)) for r in (matching, rejection, block)}
    assert len(lengths) == 1


def test_block_verification_on_its_papers_example() -> None:
    """2403.10444: p = (1/3, 2/3), q = (2/3, 1/3), two tokens: 10/9 accepted become 11/9."""
    world = World(2, lambda _: fractions(1, 2), lambda _: fractions(2, 1))
    assert mean_accepted(world, rejection, sampled, chain(2)) == Fraction(10, 9)
    assert mean_accepted(world, block, sampled, chain(2)) == Fraction(11, 9)


def textbook_block(p: list[Law], draft: Draft, chance: Chance) -> Verdict:
    """Block verification as its paper states it, position by position."""
    assert draft.q is not None
    credit: Any = Fraction(1)
    kept, law = 0, p[0]
    for i in range(len(draft) + 1):
        if i > 0:
            token = draft.tokens[i - 1]
            credit = min(Fraction(1), credit * p[i - 1][token] / draft.q[i - 1][token])
        if i == len(draft):
            excess, pass_chance = p[i], credit
        else:
            excess = np.maximum(credit * p[i] - draft.q[i], 0)
            rest = excess.sum() + 1 - credit
            pass_chance = excess.sum() / rest if rest else Fraction(1)
        if i == 0 or chance.passes(pass_chance, 1):
            kept, law = i, excess if excess.any() else p[i]
    return Verdict(tuple(range(kept)), chance.draw(law), int(kept < len(draft)))


def test_traversal_of_a_chain_is_block_verification() -> None:
    for size, length in ((3, 3), (4, 2)):
        for world in worlds(size).values():
            ours = verdicts(world, traversal, sampled, chain(length))
            assert ours == verdicts(world, textbook_block, sampled, chain(length))


@pytest.mark.parametrize(("size", "shape"), [*CHAINS, *TREES])
def test_traversal_keeps_at_least_as_much_as_rejection(size: int, shape: Shape) -> None:
    gains = []
    for seed in range(3):
        world = World(size, varied(size, f"p{seed}", 0, 4), varied(size, f"q{seed}", 1, 4))
        for pick in (sampled, mixed):
            kept = [mean_accepted(world, rule, pick, shape) for rule in (rejection, traversal)]
            gains.append(kept[1] - kept[0])
    assert min(gains) >= 0
    deep = any(below for below in shape)
    assert (max(gains) > 0) == deep  # judging jointly can only help below the first level


def test_siblings_that_cover_the_draft_cover_the_target() -> None:
    """Without replacement, as many siblings as q has tokens never waste the round."""
    for size in (3, 4):
        world = World(size, varied(size, "p", 0, 3), varied(size, "q", 1, 3))
        for rule in (rejection, traversal):
            assert mean_accepted(world, rule, sampled, ((),) * size) == 1


def test_siblings_share_one_draw_of_the_target() -> None:
    """match accepts any of the siblings when the one draw is among them."""
    world = worlds(4)["positive"]
    best_two = np.argsort(-world.q(()), kind="stable")[:2]
    assert mean_accepted(world, matching, ranked, ((), ())) == world.p(())[best_two].sum()


@pytest.mark.parametrize("rule", [matching, rejection, traversal])
def test_rejected_counts_the_children_refused_where_the_path_ended(rule: Rule) -> None:
    world = worlds(3)["positive"]
    for shape in ((), chain(3), ((), ()), (((), ()), ((),))):
        for draft, _ in drafts(world, sampled, shape, ()):
            for verdict in outcomes(partial(rule, rows(world.p, draft, ()), draft)):
                end = verdict.path[-1] if verdict.path else ROOT
                assert verdict.rejected == len(draft.children().get(end, []))


class Unlucky:
    """A `Chance` that refuses whenever a rounding error would let it, and draws the likeliest."""

    def passes(self, p: float, q: float) -> bool:
        return p / q > 1.5

    def draw(self, weights: Law) -> int:
        assert weights.sum() == pytest.approx(1)
        return int(np.argmax(weights))


@pytest.mark.parametrize("rule", [rejection, block, traversal])
def test_an_empty_residual_falls_back_to_p(rule: Rule) -> None:
    """p = q leaves no residual; a refusal, possible by rounding only, then draws from p."""
    p = np.array([0.2, 0.5, 0.3])
    assert rule([p, one_hot(3, 0)], Draft.chain([0], [p]), Unlucky()).token == 1


def test_block_refuses_a_tree() -> None:
    p = np.array([0.5, 0.5])
    with pytest.raises(ValueError, match="traversal"):
        block([p, p, p], Draft((0, 1), (ROOT, ROOT), None, "test"), Unlucky())
