"""The formulas against published and hand-worked numbers, and against brute force."""

import math

import numpy as np
import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.speedup import (
    best_gamma,
    ceiling,
    distance_to_ideal,
    expected_tokens,
    speedup,
    tokens_from_positions,
    verify_price,
)


@pytest.mark.parametrize(
    ("alpha", "cost", "gamma", "expected"),
    [
        (0.6, 0.05, 5, 1.91),
        (0.6, 0.05, 8, 1.77),
        (0.8, 0.05, 8, 3.09),
        (0.0, 0.0, 5, 1.0),
        (0.9, 0.3, 0, 1.0),
    ],
)
def test_speedup(alpha: float, cost: float, gamma: int, expected: float) -> None:
    assert speedup(alpha, cost, gamma) == pytest.approx(expected, abs=0.005)


def test_a_dear_draft_slows_down() -> None:
    assert speedup(0.6, 0.3, 5) < 1


def test_every_draft_token_right() -> None:
    assert expected_tokens(1, 5) == 6
    assert speedup(1, 0, 5) == 6
    assert expected_tokens(1 - 1e-9, 5) == pytest.approx(6, abs=1e-6)
    assert ceiling(1) == math.inf


def test_expected_tokens_is_the_mean_of_simulated_rounds() -> None:
    """n = 20,000 rounds of γ = 4 at α = 0.7; four standard errors are 0.05."""
    hits = np.random.default_rng(0).random((20_000, 4)) < 0.7
    mean = 1 + np.cumprod(hits, axis=1).sum(axis=1).mean()
    assert expected_tokens(0.7, 4) == pytest.approx(mean, abs=0.05)


def test_equal_positions_give_the_closed_form() -> None:
    for gamma in range(6):
        assert tokens_from_positions([0.7] * gamma) == pytest.approx(expected_tokens(0.7, gamma))
    assert tokens_from_positions([0.5, 0.2]) == pytest.approx(1 + 0.5 + 0.1)


@pytest.mark.parametrize(
    ("alpha", "cost", "gamma", "gain"),
    [
        (0.6, 0.05, 4, 1.92),
        (0.6, 0.2, 2, 1.40),
        (0.8, 0.01, 14, 4.23),
        (0.8, 0.05, 8, 3.09),
        (0.8, 0.2, 4, 1.87),
        (0.9, 0.05, 13, 4.67),
        (0.9, 0.2, 7, 2.37),
    ],
)
def test_best_gamma(alpha: float, cost: float, gamma: int, gain: float) -> None:
    found, best = best_gamma(alpha, cost)
    assert found == gamma
    assert best == pytest.approx(gain, abs=0.005)


def test_some_length_gains_exactly_when_alpha_exceeds_the_cost() -> None:
    assert best_gamma(0.3, 0.29)[0] > 0
    assert best_gamma(0.3, 0.31) == (0, 1.0)
    assert best_gamma(0, 0) == (0, 1.0)


def test_the_limit_holds_where_longer_is_always_better() -> None:
    assert best_gamma(1, 0, limit=10) == (10, 11)


def test_a_verify_curve_is_charged() -> None:
    curve = [1.0, 1.5, 1.6]
    assert verify_price(1, curve) == 1
    assert verify_price(3, curve) == 1.6
    assert verify_price(5, curve) == pytest.approx(1.8)  # the last slope goes on
    assert verify_price(9, [1.0]) == 1
    assert verify_price(9, None) == 1
    assert speedup(0.6, 0.05, 2, curve) == pytest.approx(1.96 / (0.1 + 1.6))
    assert speedup(0.6, 0.05, 2, curve, overhead=0.3) == pytest.approx(1.96 / (0.1 + 1.6 + 0.3))
    assert speedup(0.6, 0.05, 0, curve, overhead=0.3) == 1


def test_a_falling_curve_is_not_continued_downwards() -> None:
    assert verify_price(9, [1.0, 1.4, 1.2]) == 1.2


def test_the_best_length_looks_past_a_jag_in_the_curve() -> None:
    """Kernels pad to a tile: 2…4 rows cost the same, so γ = 1 loses and γ = 3 wins."""
    curve = [1.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0, 4.0]
    assert speedup(0.8, 0.02, 1, curve) < 1
    found, gain = best_gamma(0.8, 0.02, curve)
    assert found == 3
    assert gain == speedup(0.8, 0.02, 3, curve)


def test_best_gamma_is_the_maximum_of_speedup() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        alpha, cost = rng.random(), rng.random() * 0.3
        curve = np.maximum.accumulate(1 + rng.random(20)).tolist()
        curve[0] = 1.0
        gamma, gain = best_gamma(alpha, cost, curve, 0.05, limit=20)
        gains = [1.0] + [speedup(alpha, cost, g, curve, 0.05) for g in range(1, 21)]
        assert gain == max(gains) == gains[gamma]


def test_the_ceiling() -> None:
    assert [round(ceiling(alpha), 6) for alpha in (0, 0.6, 0.8, 0.9)] == [1, 2.5, 5, 10]
    assert distance_to_ideal(1.5, 2.0) == 0.75


@pytest.mark.parametrize(
    ("alpha", "cost", "gamma", "words"),
    [
        (1.1, 0, 1, "alpha is 1.1; an acceptance rate lies between 0 and 1"),
        (math.nan, 0, 1, "alpha is nan"),
        (0.5, -1, 1, "cost is -1; the cost ratio must be 0 or more"),
        (0.5, math.inf, 1, "cost is inf"),
        (0.5, 0, -1, "gamma is -1; the draft length must be 0 or more"),
    ],
)
def test_bad_values_are_refused(alpha: float, cost: float, gamma: int, words: str) -> None:
    with pytest.raises(ForedraftError, match=words):
        speedup(alpha, cost, gamma)


@pytest.mark.parametrize("curve", [[], [1.0, 0.0], [1.0, -1.0]])
def test_a_bad_curve_is_refused(curve: list[float]) -> None:
    with pytest.raises(ForedraftError, match="one positive ratio per row count"):
        verify_price(1, curve)
