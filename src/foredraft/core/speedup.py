"""What speculation can gain: expected tokens, speed-up, the best draft length, the ceiling.

Time is counted in plain target steps. `alpha` is the acceptance rate, `cost` is c (one draft token
/ one plain step), `gamma` the draft length, `curve[n - 1]` is v(n), the measured price of a pass
over n rows, and `overhead` the host time of a round. Formulas: Leviathan et al. 2211.17192.
"""

import math
from collections.abc import Sequence

from foredraft.core.errors import ForedraftError


def _check(alpha: float, cost: float, gamma: int) -> None:
    if not 0 <= alpha <= 1:
        raise ForedraftError(f"alpha is {alpha}; an acceptance rate lies between 0 and 1.")
    if not (cost >= 0 and math.isfinite(cost)):
        raise ForedraftError(f"cost is {cost}; the cost ratio must be 0 or more.")
    if gamma < 0:
        raise ForedraftError(f"gamma is {gamma}; the draft length must be 0 or more.")


def expected_tokens(alpha: float, gamma: int) -> float:
    """Tokens per round, (1 − α^(γ+1)) / (1 − α), and γ + 1 at α = 1 (eq. 1)."""
    _check(alpha, 0.0, gamma)
    return float(gamma + 1) if alpha == 1 else (1 - alpha ** (gamma + 1)) / (1 - alpha)


def tokens_from_positions(conditional: Sequence[float]) -> float:
    """Tokens per round from the measured conditional acceptance of each position: 1 + Σ Π aᵢ."""
    return 1 + sum(math.prod(conditional[: i + 1]) for i in range(len(conditional)))


def verify_price(rows: int, curve: Sequence[float] | None) -> float:
    """v(rows) in plain steps: 1 without a curve, the last slope continued beyond its end."""
    if curve is None:
        return 1.0
    if not curve or min(curve) <= 0:
        raise ForedraftError("The verify curve needs one positive ratio per row count, from one.")
    if rows <= len(curve):
        return curve[rows - 1]
    slope = max(0.0, curve[-1] - curve[-2]) if len(curve) > 1 else 0.0
    return curve[-1] + slope * (rows - len(curve))


def speedup(
    alpha: float,
    cost: float,
    gamma: int,
    curve: Sequence[float] | None = None,
    overhead: float = 0.0,
) -> float:
    """Expected speed over plain decoding, E[tokens] / (γ·c + v(γ+1) + overhead) (Theorem 3.8)."""
    _check(alpha, cost, gamma)
    price = gamma * cost + verify_price(gamma + 1, curve) + (overhead if gamma else 0.0)
    return expected_tokens(alpha, gamma) / price


def best_gamma(
    alpha: float,
    cost: float,
    curve: Sequence[float] | None = None,
    overhead: float = 0.0,
    limit: int = 64,
) -> tuple[int, float]:
    """The draft length with the largest speed-up and that speed-up; (0, 1.0) when none gains.

    Tries every length: with a jagged verify curve the optimum need not be where the gain first
    stops growing. The shortest wins ties.
    """
    gains = [speedup(alpha, cost, gamma, curve, overhead) for gamma in range(limit + 1)]
    gains[0] = 1.0
    best = max(range(limit + 1), key=lambda gamma: (gains[gamma], -gamma))
    return best, gains[best]


def ceiling(alpha: float) -> float:
    """The speed-up that free drafting and free verification would give: 1 / (1 − α)."""
    _check(alpha, 0.0, 0)
    return math.inf if alpha == 1 else 1 / (1 - alpha)


def distance_to_ideal(measured: float, ideal: float) -> float:
    """measured / ideal: the share of what the measured α, c and v(n) allow that was reached."""
    return measured / ideal
