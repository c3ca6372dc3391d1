"""The statistics of an audit: right against SciPy, as rarely wrong as stated, and not blind."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from foredraft.core.types import FloatArray
from foredraft.planner.audit.pit import FALSE_ALARM, Evidence, Fit, kolmogorov, uniform_distance

TESTS = ("surprise", "likeliest", "overrated", "places", "neighbours")
Laws = list[FloatArray]


def random_laws(n: int, rng: np.random.Generator, evenness: float = 0.3) -> Laws:
    return list(rng.dirichlet(np.full(32, evenness), size=n))


def draws(laws: Laws, rng: np.random.Generator) -> list[int]:
    return [int(rng.choice(law.size, p=law)) for law in laws]


def judged(laws: Laws, tokens: list[int], rng: np.random.Generator, draws: int = 20_000) -> Fit:
    evidence = Evidence(rng, draws)
    evidence.begin()
    for law, token in zip(laws, tokens, strict=True):
        evidence.add(law, token)
    return evidence.fit()


@pytest.mark.parametrize("count", [16, 64, 256, 4096])
def test_kolmogorov_is_scipys(count: int) -> None:
    for scaled in (0.3, 0.6, 0.9, 1.3, 1.7, 2.1):
        distance = scaled / math.sqrt(count)
        exact = stats.kstwo.sf(distance, count)
        assert kolmogorov(distance, count) == pytest.approx(exact, rel=0.1, abs=1e-3)
    assert kolmogorov(0.0, count) == 1
    assert kolmogorov(1.0, count) < 1e-8


def test_the_distance_is_scipys() -> None:
    places = np.random.default_rng(0).random(100) ** 1.2
    assert uniform_distance(places) == pytest.approx(stats.kstest(places, "uniform").statistic)


@pytest.mark.parametrize("evenness", [0.3, 0.01])
def test_false_alarms_are_as_rare_as_stated(evenness: float) -> None:
    """400 honest texts of 64 tokens, of laws even and nearly certain: at 5 % about 20 alarms a
    test; more than 38 come once in 25,000 seeds."""
    rng = np.random.default_rng(1)
    cases = [
        (laws, draws(laws, rng)) for laws in (random_laws(64, rng, evenness) for _ in range(400))
    ]
    found = [judged(laws, tokens, rng, draws=400) for laws, tokens in cases]
    for test in TESTS:
        assert sum(fit.p_values[test] < 0.05 for fit in found) <= 38, test


def test_the_tail_of_nearly_certain_text_is_the_right_one() -> None:
    """Of 256 tokens, each likely at 99 %, nine are not: 1.3 in 1,000 by counting, but 6 in
    100,000 by the normal curve, which would make an alarm of it."""
    laws = [np.array([0.99, 0.01])] * 256
    fit = judged(laws, [1] * 9 + [0] * 247, np.random.default_rng(0))
    counted = 2 * stats.binom.sf(8, 256, 0.01)
    assert fit.p_values["surprise"] == pytest.approx(counted, rel=0.4)
    assert fit.surprise_z > stats.norm.isf(FALSE_ALARM / 8)
    assert "surprise" not in fit.off


def colder(law: FloatArray) -> FloatArray:
    weights = law ** (1 / 0.85)
    return np.asarray(weights / weights.sum())


def truncated(law: FloatArray) -> FloatArray:
    order = np.argsort(-law)
    weights = law.copy()
    weights[order[int(np.searchsorted(law[order].cumsum(), 0.9)) + 1 :]] = 0
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("bug", [colder, truncated])
def test_what_it_sees(bug: Callable[[FloatArray], FloatArray]) -> None:
    """A temperature of 0.85 for 1, or a forgotten top-p of 0.9, in 1,200 tokens."""
    rng = np.random.default_rng(2)
    laws = random_laws(1_200, rng)
    assert judged(laws, draws(laws, rng), rng).off == ()
    assert judged(laws, draws([bug(law) for law in laws], rng), rng).off


def test_chance_used_twice_shows_in_neighbours_alone() -> None:
    """Every second token takes the draw of the one before it; each by itself is well drawn."""
    rng = np.random.default_rng(3)
    laws = random_laws(600, rng)
    tokens = []
    for i, law in enumerate(laws):
        u = u if i % 2 else rng.random()  # noqa: F821
        ranked = np.argsort(-law)
        tokens.append(int(ranked[np.searchsorted(law[ranked].cumsum(), u)]))
    assert judged(laws, tokens, rng).off == ("neighbours",)


def test_a_text_is_no_neighbour_of_the_one_before() -> None:
    evidence = Evidence(np.random.default_rng(0), draws=10)
    for _ in range(2):
        evidence.begin()
        evidence.add(np.array([0.5, 0.5]), 0)
    assert evidence.fit().correlation == 0


def test_what_is_said_to_be_visible_is_seen_nine_times_in_ten() -> None:
    """200 texts of 256 tokens whose laws are sharpened until surprise is off by `visible`."""
    rng = np.random.default_rng(4)
    laws = random_laws(256, rng)
    goal = judged(laws, draws(laws, rng), rng, draws=1).visible
    level = FALSE_ALARM / len(TESTS)

    def sharpened(power: float) -> Laws:
        return [law**power / (law**power).sum() for law in laws]

    def mean(of: Laws) -> float:
        cost = [-np.log(np.maximum(law, 1e-300)) for law in laws]
        return float(np.mean([law @ c for law, c in zip(of, cost, strict=True)]))

    power = next(x for x in np.linspace(1, 3, 401) if mean(laws) - mean(sharpened(x)) >= goal)
    wrong = sharpened(power)
    z = [judged(laws, draws(wrong, rng), rng, draws=1).surprise_z for _ in range(200)]
    seen = np.mean(np.abs(z) > stats.norm.isf(level / 2))
    assert 0.8 < seen < 1


def test_greedy_laws_and_impossible_tokens() -> None:
    certain = [np.array([0.0, 1.0, 0.0])] * 5
    rng = np.random.default_rng(5)
    obeyed = judged(certain, [1] * 5, rng)
    assert (obeyed.off, obeyed.surprise_z, obeyed.visible) == ((), 0, 0)
    fit = judged(certain, [1, 1, 1, 1, 0], rng)
    assert (fit.tokens, fit.impossible, fit.off) == (4, 1, ("impossible",))
