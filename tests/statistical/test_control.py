"""A controller that chooses drafter, length and tree anew each round does not bias the output.

The same texts, law and test as test_engine.py, n = 3,000 and a false alarm once in 1000 a fit; the
controller has three drafters and prices at which drafting pays, so trees of two lookups, their
parts and a sampled model's drafts of varying length all occur.
"""

from dataclasses import replace

import pytest

from foredraft.core.types import Exactness
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.suffix import SuffixDrafter, SuffixStore
from foredraft.engine.adaptive import Adaptive
from foredraft.engine.generator import Generator
from foredraft.engine.prices import Prices
from foredraft.engine.request import Request
from foredraft.engine.turn import Means
from tests.statistical.fit import FALSE_ALARM
from tests.statistical.runs import (
    DRAFT,
    LENGTH,
    PROMPT,
    SETTINGS,
    TARGET,
    VOCAB,
    Runs,
    fit,
    laws_remembered,
    remembered,
)

N = 3_000
Kind = tuple[str, int, bool]
"""(source, length, whether it is a chain) of a draft."""


class Still(Prices):
    """Prices that stay, so that which paths are taken does not hang on the machine."""

    def observe_verify(self, rows: int, seconds: float) -> None: ...
    def observe_draft(self, drafter: str, tokens: int, seconds: float) -> None: ...


def generate(
    settings: str, exactness: Exactness, n: int, draft_s: float = 0.1
) -> tuple[Runs, set[Kind]]:
    """n texts from one controlled engine, and the kinds of drafts that occurred."""
    drafters = [
        NgramDrafter(1, 4),
        SuffixDrafter(SuffixStore(), branching=True, least=0.02),
        ModelDrafter(remembered(DRAFT), VOCAB),
    ]
    generator = Generator(remembered(TARGET), *drafters)
    generator._prices = {False: Still({1: 1.0, 2: 1.1, 8: 1.7}, {"model": draft_s})}
    runs, kinds = Runs(), set[Kind]()
    with laws_remembered():
        for seed in range(n):
            request = Request(SETTINGS[settings], LENGTH, seed=seed, exactness=exactness)
            stream = generator.stream(
                PROMPT,
                request,
                watch=lambda r: kinds.add((r.draft.source, len(r.draft), r.draft.is_chain)),
            )
            runs.texts.append(tuple(token.id for token in stream))
            runs.accepted += stream.result.stats.accepted
            runs.rejected += stream.result.stats.rejected
            runs.drafted += stream.result.stats.drafted
    return runs, kinds


@pytest.mark.parametrize(
    ("settings", "draft_s"), [("t1", 0.02), ("top-p", 0.02), ("t1", 0.3), ("penalties", 0.3)]
)
def test_distribution(settings: str, draft_s: float) -> None:
    runs, kinds = generate(settings, Exactness.DISTRIBUTION, N, draft_s)
    assert runs.accepted > 0.05 * runs.drafted
    assert runs.rejected > 0.05 * runs.drafted
    model = {length for source, length, _ in kinds if source == "model"}
    trees = [kind for kind in kinds if not kind[2]]
    assert model >= {1, 2} if draft_s < 0.1 else trees, kinds
    assert fit(runs.texts, SETTINGS[settings]) > FALSE_ALARM


@pytest.mark.parametrize("settings", ["t1", "penalties"])
def test_coupled_texts_are_those_of_plain_decoding(settings: str) -> None:
    runs, kinds = generate(settings, Exactness.COUPLED, N // 3)
    assert any(not chain for _, _, chain in kinds), "a tree occurred"
    plain = Generator(remembered(TARGET))
    with laws_remembered():
        for seed, text in enumerate(runs.texts):
            result = plain.generate(PROMPT, Request(SETTINGS[settings], LENGTH, seed=seed))
            assert tuple(token.id for token in result.tokens) == text


def test_dropping_unsure_tokens_of_a_sampled_draft_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant: of a draft that is judged with its q, what does not seem worth a row is left.

    In chains: in one tree with the lookups' drafts no q judges it, which is exact for any tokens.
    """
    monkeypatch.setattr(Adaptive, "_branching", lambda *of: False)
    right = Means.of
    monkeypatch.setattr(Means, "of", lambda *of: replace(right(*of), whole=False))
    runs, _ = generate("t1", Exactness.DISTRIBUTION, N, 0.02)
    assert fit(runs.texts, SETTINGS["t1"]) < FALSE_ALARM
