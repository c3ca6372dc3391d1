"""Speed-ups as ratios: their geometric mean, and how sure it is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

_Z = 1.959964  # the normal distribution's 97.5 % point


@dataclass(frozen=True, slots=True)
class Speedup:
    """The geometric mean of ratios on / off; `low` and `high` bound it with 95 % confidence.

    `n` is how many independent ratios it rests on: prompts, or the repeats of a single one. One
    alone has no bounds.
    """

    value: float
    low: float | None
    high: float | None
    n: int


def speedup(ratios: Mapping[str, Sequence[float]]) -> Speedup | None:
    """Over the ratios of each prompt. A prompt's repeats count as one, since they share its text:
    the interval is about other prompts of the kind, not about these asked again."""
    logs = [[math.log(ratio) for ratio in found] for found in ratios.values() if found]
    if not logs:
        return None
    points = [fmean(found) for found in logs] if len(logs) > 1 else logs[0]
    middle, n = fmean(points), len(points)
    if n == 1:
        return Speedup(math.exp(middle), None, None, 1)
    reach = t_quantile(n - 1) * stdev(points) / math.sqrt(n)
    return Speedup(math.exp(middle), math.exp(middle - reach), math.exp(middle + reach), n)


def t_quantile(freedom: int) -> float:
    """The 97.5 % point of Student's t: exact for 1 and 2 degrees of freedom, then the expansion of
    Abramowitz and Stegun (26.7.5), which is within 0.2 %."""
    if freedom == 1:
        return math.tan(math.pi * 0.475)
    if freedom == 2:
        return 0.95 * math.sqrt(2 / (1 - 0.95**2))
    z = _Z
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))
