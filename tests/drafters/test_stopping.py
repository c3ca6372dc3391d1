"""A draft's length may depend on what was drawn so far: exact while the unsure token stays.

The real ModelDrafter, enumerated with Fractions: its laws are a toy world's, its noise a branch.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

from foredraft.core.accept import block, rejection, traversal
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft
from foredraft.drafters.base import GoOn
from foredraft.drafters.model import ModelDrafter
from foredraft.targets.base import Capabilities, Rollback
from tests.exact import Branch, Rule, Step, gap, outcomes
from tests.statistical.remembered import Remembered
from tests.worlds import Law, Text, World, emitted, rows, worlds

PROMPT = 0
LIMIT = 3
LEAST = 0.3


class ToyDraft(Remembered):
    """A draft model whose logits are the logarithms of a world's q."""

    def __init__(self, world: World) -> None:
        self.name, self.vocab_size, self.context = "toy", world.size, 64
        self.capabilities = Capabilities(Rollback.FREE, trees=False, max_rows=64)
        self._world = world

    def after(self, text: Text) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(self._world.q(text[1:]).astype(np.float32))


class ToySequence(TextSequence):
    """A text whose law is a world's q, in Fractions, and whose noise is a branch."""

    def __init__(self, text: Text, world: World, branch: Branch) -> None:
        super().__init__((PROMPT, *text), SamplingParams(temperature=1.0), self)  # type: ignore[arg-type]
        self._branch, self._q = branch, world.q

    def draw_draft(self, position: int, q: Law) -> int:
        return self._branch.draw(q)

    def law(self, logits: Any, drafted: Sequence[int] = (), params: object = None) -> Law:
        return self._q((*self.tokens[1:], *drafted))


class Dropping(ModelDrafter):
    """Ends its draft before the unsure token instead of after it."""

    def propose(self, sequence: TextSequence, limit: int, go_on: GoOn | None = None) -> Draft:
        draft = super().propose(sequence, limit, go_on)
        if draft.q is None or draft.evidence[-1] >= LEAST:
            return draft
        return Draft.chain(draft.tokens[:-1], draft.q[:-1])


def rounds(world: World, rule: Rule, drafter: ModelDrafter, go_on: GoOn | None = None) -> Step:
    """One round: the drafter's own draft, every one there is, judged by `rule`."""

    @cache
    def step(text: Text) -> Mapping[Text, Fraction]:
        drafts: dict[Text, Draft] = {}

        def program(branch: Branch) -> Text:
            draft = drafter.propose(ToySequence(text, world, branch), LIMIT, go_on)
            drafts[draft.tokens] = draft
            return draft.tokens

        law: dict[Text, Fraction] = defaultdict(Fraction)
        for tokens, mass in outcomes(program).items():
            draft = drafts[tokens]
            judged = outcomes(partial(rule, rows(world.p, draft, text), draft))
            for verdict, chance in judged.items():
                law[emitted(draft, verdict)] += mass * chance
        return law

    return step


def gaps(
    rule: Rule, made: Callable[..., ModelDrafter], go_on: GoOn | None = None
) -> list[Fraction]:
    return [
        gap(
            world,
            rounds(world, rule, made(ToyDraft(world), world.size, least=LEAST), go_on),
            LIMIT + 1,
            first_only=True,
        )
        for world in worlds(3).values()
    ]


@pytest.mark.parametrize("rule", [rejection, block, traversal])
def test_stopping_after_the_unsure_token_is_exact(rule: Rule) -> None:
    assert not any(gaps(rule, ModelDrafter))


@pytest.mark.parametrize("rule", [rejection, block, traversal])
def test_a_go_on_that_weighs_the_whole_draft_so_far_is_exact(rule: Rule) -> None:
    assert not any(gaps(rule, ModelDrafter, lambda evidence: sum(evidence) % 0.5 < 0.25))


@pytest.mark.parametrize("rule", [rejection, block, traversal])
def test_dropping_the_unsure_token_is_caught(rule: Rule) -> None:
    assert any(gaps(rule, Dropping))


def test_drafts_of_every_length_were_enumerated() -> None:
    world = worlds(3)["positive"]
    drafter = ModelDrafter(ToyDraft(world), world.size, least=LEAST)

    def program(branch: Branch) -> int:
        return len(drafter.propose(ToySequence((), world, branch), LIMIT))

    assert set(outcomes(program)) == set(range(1, LIMIT + 1))
