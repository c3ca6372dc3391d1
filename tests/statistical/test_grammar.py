"""Under a grammar the engine's texts still follow p, drafts or none; see test_engine.py.

The grammar allows no letter twice in a row, "a" before no "b" and "e" before no "c", and an end
after two letters at the earliest: what may follow changes with every drafted token. n = 2,000, two
chi-squares at half of 1/1000 each.
"""

from dataclasses import replace
from itertools import pairwise

import pytest

from foredraft.core.sampling import SamplingParams
from foredraft.core.types import Exactness, FloatArray
from foredraft.engine.loop import LazyLaws
from foredraft.grammar.grammar import Grammar
from foredraft.grammar.vocabulary import Vocabulary
from tests.statistical.fit import FALSE_ALARM
from tests.statistical.runs import DRAFTERS, PROMPT, TARGET, fit, generate, tiny_model

N = 2_000
GRAMMAR = Grammar.lark(
    "start: TEXT\nTEXT: /[a-e]{2,}/ & ~/(?s:.*)(aa|bb|cc|dd|ee|ab|ec)(?s:.*)/ & /(?s:.*)/"
)
DRAFTING = [name for name in DRAFTERS if name != "none"]


@pytest.fixture(scope="module")
def params() -> SamplingParams:
    compiled = Vocabulary(tiny_model(TARGET)).compile(GRAMMAR)
    return compiled.on(SamplingParams(temperature=1.0), len(PROMPT))


def test_the_grammar_bars_most_texts(params: SamplingParams) -> None:
    free = generate(DRAFTERS["none"](), SamplingParams(temperature=1.0), Exactness.COUPLED, 300)
    kept = generate(DRAFTERS["none"](), params, Exactness.COUPLED, 300)
    assert sum(a == b for a, b in zip(free.texts, kept.texts, strict=True)) < 200
    assert all(a != b for text in kept.texts for a, b in pairwise(text))


@pytest.mark.parametrize("drafter", DRAFTING)
def test_distribution(drafter: str, params: SamplingParams) -> None:
    runs = generate(DRAFTERS[drafter](), params, Exactness.DISTRIBUTION, N)
    assert runs.accepted > 0.1 * runs.drafted
    assert runs.rejected > 0.05 * runs.drafted
    assert fit(runs.texts, params) > FALSE_ALARM


def test_coupled(params: SamplingParams) -> None:
    plain = generate(DRAFTERS["none"](), params, Exactness.COUPLED, N)
    assert fit(plain.texts, params) > FALSE_ALARM
    for drafter in DRAFTING:
        runs = generate(DRAFTERS[drafter](), params, Exactness.COUPLED, N // 4)
        assert runs.accepted > 0
        assert runs.texts == plain.texts[: N // 4], drafter


@pytest.mark.parametrize("drafter", ["ngram", "sampled"])
def test_a_mask_for_the_first_row_alone_is_caught(
    drafter: str, params: SamplingParams, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = LazyLaws._law

    def law(self: LazyLaws, row: int, params: SamplingParams) -> FloatArray:
        return right(self, row, params if row == 0 else replace(params, processors=()))

    monkeypatch.setattr(LazyLaws, "_law", law)
    runs = generate(DRAFTERS[drafter](), params, Exactness.DISTRIBUTION, N)
    assert fit(runs.texts, params) < FALSE_ALARM
