"""The vectorised toy experiment is the real rejection rule, row by row."""

import numpy as np
import pytest
from scipy import stats

from foredraft.core.accept import rejection
from foredraft.core.noise import race
from foredraft.core.toy import chance_of, experiment, judge
from foredraft.core.types import Draft, FloatArray
from tests.worlds import emitted, worlds


class Given:
    """A `Chance` of given noise."""

    def __init__(self, uniform: float, exponentials: FloatArray) -> None:
        self.uniform, self.exponentials = uniform, exponentials

    def passes(self, p: float, q: float) -> bool:
        return self.uniform * q < p

    def draw(self, weights: FloatArray) -> int:
        return race(weights, self.exponentials)


@pytest.mark.parametrize("name", worlds(4))
def test_it_judges_as_rejection_does(name: str) -> None:
    world, n = worlds(4)[name].as_floats(), 300
    p, q = world.p(()), world.q(())
    rng = np.random.default_rng(0)
    drafting, redrawing = rng.standard_exponential((2, n, 4))
    uniforms = rng.random(n)
    tokens, accepted = judge(p, q, drafting, uniforms, redrawing)
    for i in range(n):
        draft = Draft.chain([race(q, drafting[i])], [q])
        verdict = rejection([p, p], draft, Given(uniforms[i], redrawing[i]))
        assert tokens[i] == emitted(draft, verdict)[0]
        assert accepted[i] == bool(verdict.path)


def test_the_experiment_counts_every_sample_whatever_the_chunks() -> None:
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    tally = experiment(p, q, samples=250_001, seed=1)
    assert tally.counts.sum() == 250_001
    assert tally.accepted / 250_001 == pytest.approx(0.6, abs=0.005)
    assert chance_of(tally.counts, p) > 1e-3
    assert chance_of(tally.counts, q) < 1e-6


def test_chance_of_is_scipys_chi_square() -> None:
    rng, p = np.random.default_rng(2), np.array([0.4, 0.25, 0.15, 0.12, 0.08])
    for _ in range(50):
        counts = rng.multinomial(500, p)
        theirs = stats.chisquare(counts, 500 * p).pvalue
        assert chance_of(counts, p) == pytest.approx(theirs, abs=0.01)


def test_chance_of_edge_cases() -> None:
    assert chance_of(np.array([9, 1]), np.array([1.0, 0.0])) == 0  # p excludes what was seen
    assert chance_of(np.array([10, 0]), np.array([1.0, 0.0])) == 1
    assert chance_of(np.array([1, 1]), np.array([0.5, 0.5])) == 1  # too few to tell
