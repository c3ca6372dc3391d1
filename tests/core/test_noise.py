"""Noise is a function of (seed, position, token), and races draw in proportion."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from foredraft.core.noise import Noise, race


def test_a_tokens_noise_depends_on_seed_position_and_token_alone() -> None:
    """Neither the vocabulary's size nor which other tokens are asked for, or when, matters."""
    everyone = Noise(3, coupled=True).at(7, np.arange(1000))
    noise = Noise(3, coupled=False)
    noise.draw(np.ones(5))
    noise.at(8, np.arange(10))
    for ids in (np.arange(10), np.array([4]), np.array([0, 17, 999])):
        np.testing.assert_array_equal(noise.at(7, ids), everyone[ids])


def test_noise_differs_between_seeds_positions_and_tokens() -> None:
    ids = np.arange(100)
    values = [Noise(seed, True).at(position, ids) for seed in range(5) for position in range(5)]
    assert len(np.unique(np.concatenate(values))) == 2500


def test_noise_is_exponential_and_independent_across_positions_and_seeds() -> None:
    """n = 2000 each; Kolmogorov-Smirnov at the level 0.001, correlations within 4/√n."""
    noise, ids = Noise(0, True), np.array([1, 5])
    positions = np.array([noise.at(i, ids) for i in range(2000)])
    seeds = np.array([Noise(i, True).at(0, ids) for i in range(2000)])
    for sample in (positions, seeds):
        assert stats.kstest(sample[:, 0], "expon").pvalue > 1e-3
        assert stats.kstest(sample[:, 1], "expon").pvalue > 1e-3
        assert abs(np.corrcoef(sample.T)[0, 1]) < 4 / np.sqrt(2000)
        assert abs(np.corrcoef(sample[1:, 0], sample[:-1, 0])[0, 1]) < 4 / np.sqrt(2000)


@pytest.mark.parametrize("zeros", [0, 100])
@pytest.mark.parametrize("sharpness", [0.0, 1.0, 5.0])
def test_the_draw_is_the_whole_race_s_winner(sharpness: float, zeros: int) -> None:
    """Most tokens' logarithms are never taken; no winner may be among those."""
    rng, noise = np.random.default_rng(2), Noise(9, coupled=True)
    for position in range(300):
        law = np.exp(sharpness * rng.standard_normal(500))
        law[rng.integers(0, 500, zeros)] = 0
        ids = np.flatnonzero(law)
        winner = ids[race(law[ids], noise.at(position, ids))]
        assert noise.draw_target(position, law / law.sum()) == winner


def counts(draws: list[int], size: int) -> Any:
    return np.bincount(draws, minlength=size)


@pytest.mark.parametrize("weights", [[0.5, 0.3, 0.2], [5, 0, 1, 4], [1e-12, 2e-12, 1e-12]])
def test_draws_are_in_proportion(weights: list[float]) -> None:
    """n = 5000, chi-square at the level 0.001; weights need not sum to one, zero is never drawn."""
    law, n = np.array(weights, dtype=float), 5000
    noise = Noise(1, coupled=False)
    draws = {
        "target": [noise.draw_target(i, law) for i in range(n)],
        "draft": [noise.draw_draft(i, law) for i in range(n)],
        "redraw": [noise.draw(law) for _ in range(n)],
    }
    some = law > 0
    for stream, tokens in draws.items():
        seen = counts(tokens, len(law))
        assert not seen[~some].any(), stream
        assert stats.chisquare(seen[some], n * (law / law.sum())[some]).pvalue > 1e-3, stream


def test_passes_with_probability_p_over_q() -> None:
    noise, n = Noise(2, coupled=False), 5000
    passed = sum(noise.passes(0.3, 0.4) for _ in range(n))
    assert stats.binomtest(passed, n, 0.75).pvalue > 1e-3
    assert all(noise.passes(0.4, 0.4) for _ in range(n))
    assert not any(noise.passes(0.0, 0.4) for _ in range(n))


def test_a_coupled_draft_shares_the_targets_noise_and_others_do_not() -> None:
    law = np.full(50, 0.02)
    together, apart = Noise(4, coupled=True), Noise(4, coupled=False)
    own = [together.draw_target(i, law) for i in range(100)]
    assert [together.draw_draft(i, law) for i in range(100)] == own
    assert [apart.draw_target(i, law) for i in range(100)] == own
    assert sum(apart.draw_draft(i, law) == own[i] for i in range(100)) < 15


def test_streams_do_not_disturb_one_another() -> None:
    """What is drafted does not change how it is judged or redrawn."""
    law = np.array([0.2, 0.3, 0.5])
    quiet, busy = Noise(5, coupled=False), Noise(5, coupled=False)
    for i in range(50):
        busy.draw_draft(i, law)
    assert [quiet.passes(0.5, 1) for _ in range(50)] == [busy.passes(0.5, 1) for _ in range(50)]
    assert [quiet.draw(law) for _ in range(50)] == [busy.draw(law) for _ in range(50)]


def test_a_uniform_of_zero_draws_another_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """u = 0 becomes E = ∞: never a NaN, a warning, or a token of no weight."""

    class Zeros:
        def __init__(self, *_: object) -> None: ...

        def random(self, size: int) -> Any:
            return np.array([0.0, 0.5, 0.0, 0.5])[:size]

    monkeypatch.setattr(np.random, "Generator", Zeros)
    noise = Noise(0, coupled=True)
    with np.errstate(all="raise"):
        assert np.isinf(noise.at(0, np.array([0]))[0])
        assert noise.draw_target(0, np.array([0.7, 0.1, 0.2, 0.0])) == 1


def test_race_prefers_weight_and_breaks_ties_by_id() -> None:
    assert race(np.array([1.0, 2.0]), np.array([1.0, 1.0])) == 1
    assert race(np.array([1.0, 1.0]), np.array([1.0, 1.0])) == 0
