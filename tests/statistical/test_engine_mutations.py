"""Bugs put into the whole engine: the checks of test_engine.py and of `coupled` must catch each.

The texts are half as many as there (n = 1,500), so what fails here fails there.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from foredraft.core import accept
from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft, Exactness, FloatArray, LogitArray, Verdict
from foredraft.drafters.base import Drafter, GoOn
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine import loop
from foredraft.engine.generation import Generation
from foredraft.engine.generator import Generator
from foredraft.engine.loop import LazyLaws, Round
from foredraft.engine.reference import decode_plainly
from foredraft.engine.request import Request
from foredraft.targets.torch_hf import TorchSequence, TorchTarget
from tests import tiny
from tests.statistical.fit import FALSE_ALARM
from tests.statistical.runs import (
    DRAFT,
    DRAFTERS,
    SETTINGS,
    VOCAB,
    fit,
    generate,
    remembered,
)

N = 1_500
Mutation = Callable[[pytest.MonkeyPatch], None]


def caught(drafter: Drafter, settings: str, exactness: Exactness = Exactness.DISTRIBUTION) -> bool:
    params = SETTINGS[settings]
    return fit(generate(drafter, params, exactness, N).texts, params) < FALSE_ALARM


# Drafts that misreport q, or are cut short by what they drew. #


class Misreporting(ModelDrafter):
    """Draws as it should, but reports its laws under other settings than the request's."""

    def __init__(self, said: str, greedy: bool = False) -> None:
        super().__init__(remembered(DRAFT), VOCAB, greedy)
        self._said = SETTINGS[said]
        self._seen: list[LogitArray] = []

    def _aligned(self, logits: LogitArray) -> LogitArray:
        self._seen.append(super()._aligned(logits))
        return self._seen[-1]

    def propose(self, sequence: TextSequence, limit: int, go_on: GoOn | None = None) -> Draft:
        self._seen = []
        draft = super().propose(sequence, limit, go_on)
        laws = [
            sequence.law(logits, draft.tokens[:i], self._said)
            for i, logits in enumerate(self._seen)
        ]
        return Draft.chain(draft.tokens, laws, self.name)


class Hesitant(ModelDrafter):
    """Ends its draft before the first token that it drew against the odds."""

    def propose(self, sequence: TextSequence, limit: int, go_on: GoOn | None = None) -> Draft:
        draft = super().propose(sequence, limit, go_on)
        if draft.q is None:
            return draft
        sure = 0
        while sure < len(draft) and draft.q[sure][draft.tokens[sure]] > 0.3:
            sure += 1
        return Draft.chain(draft.tokens[:sure], draft.q[:sure], self.name)


@pytest.mark.parametrize(
    ("drafter", "settings"),
    [
        (Misreporting("t1"), "t0.7"),
        (Misreporting("t0.7"), "penalties"),
        (Misreporting("t1"), "top-k"),
        (Misreporting("t0.7"), "top-p"),
        (Misreporting("t1", greedy=True), "t1"),
        (Hesitant(remembered(DRAFT), VOCAB), "t1"),
    ],
    ids=["temperature", "penalties", "top-k", "top-p", "argmax", "dropped by its own odds"],
)
def test_a_draft_that_misreports_is_caught(drafter: Drafter, settings: str) -> None:
    assert caught(drafter, settings)


def test_a_draft_that_misreports_nothing_is_not() -> None:
    assert not caught(Misreporting("penalties"), "penalties")


# A target whose law is not p. #


def blind_to_the_draft(patch: pytest.MonkeyPatch) -> None:
    def law(self: LazyLaws, row: int, params: SamplingParams) -> FloatArray:
        return self._sequence.law(self._logits[row], (), params)

    patch.setattr(LazyLaws, "_law", law)


def row_off_by_one(patch: pytest.MonkeyPatch) -> None:
    right = LazyLaws._law

    def law(self: LazyLaws, row: int, params: SamplingParams) -> FloatArray:
        return right(self, max(0, row - 1), params)

    patch.setattr(LazyLaws, "_law", law)


def top_p_on_q_alone(patch: pytest.MonkeyPatch) -> None:
    right = LazyLaws._law
    patch.setattr(
        LazyLaws, "_law", lambda self, row, params: right(self, row, replace(params, top_p=1.0))
    )


def residual_is_p(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(accept, "_normalised", lambda residual, fallback: fallback)


def one_uniform_for_all(patch: pytest.MonkeyPatch) -> None:
    uniforms: dict[Noise, float] = {}

    def passes(self: Noise, p: float, q: float) -> bool:
        return uniforms.setdefault(self, self._judging.random()) * q < p

    patch.setattr(Noise, "passes", passes)


def bonus_at_temperature_one(patch: pytest.MonkeyPatch) -> None:
    right = loop.judge

    def judge(
        laws: LazyLaws, draft: Draft, sequence: TextSequence, exactness: Exactness
    ) -> Verdict:
        verdict = right(laws, draft, sequence, exactness)
        if not len(verdict.path) == len(draft) > 0:
            return verdict
        law = laws._law(len(draft), replace(sequence.params, temperature=1.0))
        return replace(verdict, token=sequence.noise.draw(law))

    patch.setattr(loop, "judge", judge)


def end_missed_inside_a_run(patch: pytest.MonkeyPatch) -> None:
    right = Generation.read

    def read(self: Generation, done: Round) -> int:
        sequence = self.sequence
        eos, sequence.eos = sequence.eos, () if done.verdict.path else sequence.eos
        emitted = right(self, done)
        sequence.eos = eos
        return emitted

    patch.setattr(Generation, "read", read)


@pytest.mark.parametrize(
    ("mutation", "drafter", "settings"),
    [
        (blind_to_the_draft, "ngram", "penalties"),
        (blind_to_the_draft, "sampled", "penalties"),
        (blind_to_the_draft, "sampled", "masks"),
        (row_off_by_one, "ngram", "t1"),
        (top_p_on_q_alone, "sampled", "top-p"),
        (residual_is_p, "ngram", "t1"),
        (residual_is_p, "sampled", "t1"),
        (one_uniform_for_all, "ngram", "t1"),
        (one_uniform_for_all, "sampled", "t1"),
        (bonus_at_temperature_one, "sampled", "t0.7"),
        (end_missed_inside_a_run, "ngram", "t1"),
    ],
)
def test_a_wrong_engine_is_caught(
    mutation: Mutation, drafter: str, settings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation(monkeypatch)
    assert caught(DRAFTERS[drafter](), settings)


# Noise, cache and position: text under `coupled` is the reference loop's, and its joint law p. #

PROMPT = [1, 2, 3, 4, 1, 2, 3]
PARAMS = SamplingParams(temperature=0.7)


def reference() -> list[int]:
    return decode_plainly(tiny.target(), TextSequence(PROMPT, PARAMS, Noise(3, coupled=True)), 40)


def coupled_text(drafter: Drafter) -> tuple[list[int], float]:
    """Forty tokens of a fresh engine, and the acceptance rate."""
    request = Request(PARAMS, 40, seed=3, draft_len=5, ignore_eos=True)
    result = Generator(tiny.target(), drafter).generate(PROMPT, request)
    return [token.id for token in result.tokens], result.stats.acceptance_rate or 0.0


def twin() -> ModelDrafter:
    """A draft that is the target: with the noise shared, all it proposes is right."""
    return ModelDrafter(tiny.target(), tiny.VOCAB)


def target_noise_at(position: Callable[[int, int], int]) -> Mutation:
    """(the position after the last committed token, depth) → where the target's noise is taken."""

    def mutation(patch: pytest.MonkeyPatch) -> None:
        def judge(
            laws: LazyLaws, draft: Draft, sequence: TextSequence, exactness: Exactness
        ) -> Verdict:
            here, noise = len(sequence.tokens), sequence.noise
            return accept.match(
                laws, draft, lambda depth, p: noise.draw_target(position(here, depth), p)
            )

        patch.setattr(loop, "judge", judge)

    return mutation


def refused_rows_stay(patch: pytest.MonkeyPatch) -> None:
    """Both places are needed: a round begins by cutting the cache to the committed text."""
    keep, rewind = TorchTarget.commit, TorchTarget.rewind

    def commit(self: TorchTarget, sequence: TorchSequence, path: Sequence[int]) -> None:
        keep(self, sequence, range(len(sequence.scored)))

    def rewind_an_empty_cache(
        self: TorchTarget, sequence: TorchSequence, tokens: Sequence[int]
    ) -> int:
        return len(sequence.tokens) if sequence.tokens else rewind(self, sequence, tokens)

    patch.setattr(TorchTarget, "commit", commit)
    patch.setattr(TorchTarget, "rewind", rewind_an_empty_cache)


def kept_rows_lost(patch: pytest.MonkeyPatch) -> None:
    """The slots of accepted rows hold the keys and values of the rows before them."""
    right = TorchTarget.commit

    @torch.inference_mode()
    def commit(self: TorchTarget, sequence: TorchSequence, path: Sequence[int]) -> None:
        if sequence.tokens and len(path) > 1:
            sequence.cache.keep([0, *path[:-1]])
            sequence.tokens += [sequence.scored[row] for row in path]
        else:
            right(self, sequence, path)

    patch.setattr(TorchTarget, "commit", commit)


@pytest.mark.parametrize(
    "mutation",
    [
        target_noise_at(lambda here, depth: here + depth + 1),
        target_noise_at(lambda here, depth: here + max(0, depth - 1)),
        target_noise_at(lambda here, depth: here),
        refused_rows_stay,
        kept_rows_lost,
    ],
    ids=["one position late", "bonus reuses", "one for a run", "refused stay", "kept lost"],
)
def test_text_that_depends_on_the_drafter_is_caught(
    mutation: Mutation, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = reference()
    assert coupled_text(NgramDrafter(1, 4))[0] == right
    mutation(monkeypatch)
    assert coupled_text(NgramDrafter(1, 4))[0] != right


def test_one_noise_at_two_positions_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each law is right and the seeds are many, but the tokens of a run are tied to each other."""
    target_noise_at(lambda here, depth: here + max(0, depth - 1))(monkeypatch)
    assert caught(DRAFTERS["sampled"](), "t1", Exactness.COUPLED)


def test_other_noise_for_the_draft_costs_acceptance_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert coupled_text(twin()) == (reference(), 1.0)
    right = Noise.draw_draft
    monkeypatch.setattr(Noise, "draw_draft", lambda self, position, q: right(self, position + 1, q))
    text, acceptance = coupled_text(twin())
    assert text == reference()
    assert acceptance < 0.9


def test_a_hole_in_the_drafts_cache_costs_acceptance(monkeypatch: pytest.MonkeyPatch) -> None:
    """The draft never reads the token that it drafted last when the whole draft was kept."""
    right = ModelDrafter._drafting

    def drafting(self: ModelDrafter, *wanted: Any) -> Any:
        steps, logits = right(self, *wanted), None
        while True:
            try:
                rows = steps.send(logits)
            except StopIteration as done:
                return done.value
            logits = yield replace(rows, tokens=rows.tokens[-1:])

    monkeypatch.setattr(ModelDrafter, "_drafting", drafting)
    text, acceptance = coupled_text(twin())
    assert text == reference()
    assert acceptance < 0.9
