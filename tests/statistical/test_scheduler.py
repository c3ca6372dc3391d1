"""Texts that share passes follow the joint law that the target alone gives each of them.

The texts and the goodness of fit are those of test_engine.py, but every text runs beside others,
which join and leave as they end. n = 1,200 shows a joint law 0.15 away 99 times in 100; an exact
engine fails a fit once in 1000, and once in 330 one of the three.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from foredraft.core.noise import Noise
from foredraft.core.types import Draft, Exactness, LogitArray
from foredraft.drafters.base import Drafter
from foredraft.engine import rounds
from foredraft.engine.generator import Generator
from foredraft.engine.job import Speculation, Step
from foredraft.engine.prices import Prices
from foredraft.engine.request import Request
from foredraft.engine.running import Running
from foredraft.engine.scheduler import Scheduler
from foredraft.engine.turn import Means
from foredraft.targets.base import Progress
from tests.statistical.fit import FALSE_ALARM
from tests.statistical.runs import (
    DRAFT_LEN,
    DRAFTERS,
    LENGTH,
    PROMPT,
    SETTINGS,
    TARGET,
    Runs,
    fit,
    laws_remembered,
    remembered,
)
from tests.worlds import Text

N = 1_200
SLOTS = 5


class Priced(Generator):
    """Drafts are cheap; a row costs enough that unlikely tokens are not worth one."""

    def calibrate(self, bitwise: bool = False, progress: Progress | None = None) -> Prices:
        return Steady({1: 1.0, 64: 5.0}, {"model": 0.01}, None, {"model": 1e-6}, {SLOTS: 1.0})


class Steady(Prices):
    def observe_verify(self, rows: int, seconds: float, sequences: int = 1) -> None: ...

    def observe_draft(
        self, drafter: str, tokens: int, seconds: float, sequences: int = 1
    ) -> None: ...


def beside_each_other(
    drafter: Drafter, settings: str, exactness: Exactness, n: int, draft_len: int | None
) -> Runs:
    """n texts, the i-th from seed i, SLOTS at a time."""
    scheduler = Scheduler(Priced(remembered(TARGET), drafter), slots=SLOTS, queue=n)
    left, over, most = [n], threading.Event(), [0]

    def hear(step: Step) -> None:
        most[0] = max(most[0], step.share.sequences if step.share else 0)
        left[0] -= step.finish_reason is not None
        if not left[0]:
            over.set()

    with laws_remembered():
        jobs = [
            scheduler.submit(
                PROMPT,
                Request(
                    SETTINGS[settings], LENGTH, seed=seed, draft_len=draft_len, exactness=exactness
                ),
                hear,
                speculation=Speculation(drafter.name),
            )
            for seed in range(n)
        ]
        assert over.wait(200)
    scheduler.close()
    assert most[0] >= SLOTS - 1
    runs = Runs()
    for job in jobs:
        stats = job.result.stats
        runs.texts.append(tuple(token.id for token in job.result.tokens))
        runs.drafted += stats.drafted
        runs.accepted += stats.accepted
        runs.rejected += stats.rejected
    return runs


@pytest.mark.parametrize(
    ("drafter", "settings", "draft_len"),
    [
        ("sampled", "t1", DRAFT_LEN),
        ("sampled", "penalties", None),
    ],
)
def test_distribution(drafter: str, settings: str, draft_len: int | None) -> None:
    runs = beside_each_other(DRAFTERS[drafter](), settings, Exactness.DISTRIBUTION, N, draft_len)
    assert runs.accepted > 0.1 * runs.drafted
    assert runs.rejected > 0.1 * runs.drafted
    assert fit(runs.texts, SETTINGS[settings]) > FALSE_ALARM


def test_coupled_texts_are_those_of_plain_decoding_alone() -> None:
    runs = beside_each_other(DRAFTERS["sampled"](), "t1", Exactness.COUPLED, N, DRAFT_LEN)
    plain = Generator(remembered(TARGET))
    with laws_remembered():
        for seed, text in enumerate(runs.texts):
            made = plain.generate(PROMPT, Request(SETTINGS["t1"], LENGTH, seed=seed))
            assert text == tuple(token.id for token in made.tokens)
    assert fit(runs.texts, SETTINGS["t1"]) > FALSE_ALARM


def neighbours_logits(patch: pytest.MonkeyPatch) -> None:
    """Each text is judged by the rows of the one after it, where they are as many."""
    right = rounds._accept

    def accept(
        texts: Sequence[Running],
        drafts: Sequence[Draft],
        logits: Sequence[LogitArray],
        draft_s: float,
        verify_s: float,
    ) -> object:
        shifted = [*logits[1:], logits[0]]
        mixed = [b if len(a) == len(b) else a for a, b in zip(logits, shifted, strict=True)]
        return right(texts, drafts, mixed, draft_s, verify_s)

    patch.setattr(rounds, "_accept", accept)


def drawn_tokens_dropped(patch: pytest.MonkeyPatch) -> None:
    """What was drawn is verified only as far as it seems worth its rows."""
    right = Means.of
    patch.setattr(Means, "of", lambda *of: replace(right(*of), whole=False))


def one_noise_for_all(patch: pytest.MonkeyPatch) -> None:
    """All texts judge their drafts with one number, drawn once."""
    patch.setattr(Noise, "passes", lambda self, p, q: q * 0.5 < p)


@pytest.mark.parametrize(
    ("mutation", "draft_len"),
    [(neighbours_logits, DRAFT_LEN), (drawn_tokens_dropped, None), (one_noise_for_all, DRAFT_LEN)],
)
def test_a_wrong_scheduler_is_caught(
    mutation: Callable[[pytest.MonkeyPatch], None],
    draft_len: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutation(monkeypatch)
    texts: list[Text] = beside_each_other(
        DRAFTERS["sampled"](), "t1", Exactness.DISTRIBUTION, N, draft_len
    ).texts
    assert fit(texts, SETTINGS["t1"]) < FALSE_ALARM
