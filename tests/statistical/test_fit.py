"""Texts drawn with real noise and floating point follow the target's exact law.

Each test draws n = 10,000 texts of three tokens over three tokens (at most 27 bins): a right rule
fails once in 1000 seeds, a law 0.045 away in total variation passes once in 100 (0.065 for half as
many texts). The exact tests in tests/core judge the rules; these judge the noise, the arithmetic,
and the two together.
"""

import numpy as np
import pytest

from foredraft.core.accept import block, rejection, traversal
from foredraft.core.noise import Noise
from tests.exact import Rule
from tests.statistical.fit import FALSE_ALARM, Judge, coupled, fit, fresh, generate, power
from tests.worlds import Pick, Shape, World, chain, mixed, ranked, sampled, varied, worlds

N = 10_000
TREE: Shape = (((), ()), ())
WORLD = World(3, varied(3, "target", 1, 6), varied(3, "draft", 1, 6))


def test_the_stated_power_is_the_real_one() -> None:
    assert power(N, tv=0.045, bins=27) > 0.99
    assert power(N // 2, tv=0.065, bins=27) > 0.99


@pytest.mark.parametrize(
    ("rule", "pick", "shape"),
    [
        (rejection, sampled, chain(2)),
        (rejection, mixed, TREE),
        (block, sampled, chain(2)),
        (traversal, sampled, TREE),
    ],
)
def test_rules_with_fresh_noise(rule: Rule, pick: Pick, shape: Shape) -> None:
    noise = Noise(20, coupled=False)
    assert fit(WORLD, fresh(rule), pick, shape, N, lambda _: noise) > FALSE_ALARM


def test_coupled_over_seeds() -> None:
    """One text a seed, as people draw several answers to one prompt."""
    p = fit(WORLD, coupled, sampled, chain(2), N // 2, lambda i: Noise(i, coupled=True))
    assert p > FALSE_ALARM


def test_rejection_over_seeds() -> None:
    p = fit(WORLD, fresh(rejection), sampled, chain(1), N // 2, lambda i: Noise(i, coupled=False))
    assert p > FALSE_ALARM


@pytest.mark.parametrize("name", ["zeros", "p = q", "disjoint", "certain draft", "certain target"])
@pytest.mark.parametrize("judge", [coupled, fresh(block)], ids=["coupled", "block"])
def test_edge_cases(name: str, judge: Judge) -> None:
    """Nothing impossible is emitted; with n = 500 only gross errors of proportion show."""
    world = worlds(3)[name]
    p = fit(world, judge, sampled, chain(2), 500, lambda i: Noise(i, judge is coupled), length=2)
    assert p > FALSE_ALARM


def test_coupled_text_is_the_same_whatever_the_drafter() -> None:
    world = WORLD.as_floats()
    for seed in range(200):
        plain, _ = generate(world, coupled, sampled, (), 8, Noise(seed, coupled=True))
        for pick, shape in ((sampled, chain(3)), (ranked, chain(1)), (mixed, TREE)):
            text, _ = generate(world, coupled, pick, shape, 8, Noise(seed, coupled=True))
            assert text == plain


def test_sharing_the_noise_raises_acceptance() -> None:
    """The exponential race on shared noise agrees with probability Σ 1 / Σ max(p_y/p_x, q_y/q_x).

    That lies between the Σ p·q of independent draws and the optimum Σ min(p, q). n = 20,000: five
    standard errors are at most 0.018.
    """
    n = 20_000
    p, q = WORLD.as_floats().p(()), WORLD.as_floats().q(())
    agree = sum(1 / np.maximum(p / p[x], q / q[x]).sum() for x in range(3))
    assert (p * q).sum() + 0.05 < agree <= np.minimum(p, q).sum()
    noise = Noise(5, coupled=True)
    kept = [noise.draw_draft(i, q) == noise.draw_target(i, p) for i in range(n)]
    assert np.mean(kept) == pytest.approx(agree, abs=5 * np.sqrt(agree * (1 - agree) / n))
