"""Whole texts from the engine follow the joint law that the target alone gives them.

A text is at most four tokens over six, ended early by the end token; γ is 3, so drafts are kept
whole, partly and not at all. Each test draws n = 3,000 texts, the i-th from seed i, and compares
their first three tokens and their last two with every text's exact probability (runs.py). Two
chi-squares at half of 1/1000 each: an exact engine fails a test once in 1000, had the seeds not
been fixed; over the 34 fits of this file that is once in 29. A joint law 0.09 away in total
variation passes less than once in 100, with the most bins that occur; truncated laws have so few
that 0.06 will do. test_engine_mutations.py shows what that is worth.
"""

import pytest

from foredraft.core.types import Exactness
from foredraft.drafters.model import ModelDrafter
from tests.statistical.fit import FALSE_ALARM, power
from tests.statistical.runs import (
    DRAFT,
    DRAFTERS,
    SETTINGS,
    TARGET,
    VOCAB,
    Runs,
    fit,
    generate,
    tiny_model,
)

N = 3_000
DRAFTING = [name for name in DRAFTERS if name != "none"]


def assert_all_happened(runs: Runs) -> None:
    """A goodness of fit is worth nothing for a path that was never taken."""
    assert runs.accepted > 0.1 * runs.drafted
    assert runs.rejected > 0.1 * runs.drafted
    assert runs.whole > 0.01 * len(runs.texts)


def test_the_stated_power_is_the_real_one() -> None:
    assert power(N, tv=0.09, bins=75) > 0.99
    assert power(N, tv=0.06, bins=13) > 0.94


@pytest.mark.parametrize("settings", ["t1", "penalties"])
def test_plain_decoding(settings: str) -> None:
    runs = generate(DRAFTERS["none"](), SETTINGS[settings], Exactness.DISTRIBUTION, N)
    assert runs.drafted == 0
    assert fit(runs.texts, SETTINGS[settings]) > FALSE_ALARM


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("drafter", DRAFTING)
def test_distribution(drafter: str, settings: str) -> None:
    runs = generate(DRAFTERS[drafter](), SETTINGS[settings], Exactness.DISTRIBUTION, N)
    assert_all_happened(runs)
    assert fit(runs.texts, SETTINGS[settings]) > FALSE_ALARM


@pytest.mark.parametrize("settings", ["t1", "penalties"])
def test_coupled(settings: str) -> None:
    """The texts are those of plain decoding, so one drafter's fit is every drafter's."""
    plain = generate(DRAFTERS["none"](), SETTINGS[settings], Exactness.COUPLED, N)
    assert fit(plain.texts, SETTINGS[settings]) > FALSE_ALARM
    for drafter in DRAFTING:
        runs = generate(DRAFTERS[drafter](), SETTINGS[settings], Exactness.COUPLED, N // 3)
        assert_all_happened(runs)
        assert runs.texts == plain.texts[: N // 3], drafter


def test_a_sampled_draft_at_coupled() -> None:
    runs = generate(DRAFTERS["sampled"](), SETTINGS["top-p"], Exactness.COUPLED, N)
    assert_all_happened(runs)
    assert fit(runs.texts, SETTINGS["top-p"]) > FALSE_ALARM


def test_nothing_remembered() -> None:
    """Both models run with their caches. n = 1,000 shows a law 0.15 away 99 times in 100."""
    assert power(1_000, tv=0.15, bins=50) > 0.99
    drafter = ModelDrafter(tiny_model(DRAFT), VOCAB)
    runs = generate(
        drafter, SETTINGS["penalties"], Exactness.DISTRIBUTION, 1_000, tiny_model(TARGET)
    )
    assert_all_happened(runs)
    assert fit(runs.texts, SETTINGS["penalties"]) > FALSE_ALARM
