"""Whether a long text was drawn from the laws p that its target gives it, whatever their shape.

A chi-square needs many texts from one prefix. These need one text, in which every token follows
another prefix and another law, and only the rows that verification computes anyway.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from foredraft.core.types import FloatArray

_SIDES = 6


@dataclass(frozen=True)
class Evidence:
    """What speaks against tokens being draws from their laws: p-values, one a test.

    `surprise` is z of the tokens' surprise −ln p against the entropies; `top` is z of how often
    the most likely token came. Both are 0 for greedy laws, which the certain token alone fits.
    """

    surprise: float
    top: float
    uniform: float
    pairs: float

    @property
    def p_value(self) -> float:
        """The least of the four p-values times four, so that its false alarms are its level."""
        normal = [2 * float(stats.norm.sf(abs(z))) for z in (self.surprise, self.top)]
        return min(1.0, 4 * min(*normal, self.uniform, self.pairs))


def evidence(laws: Sequence[FloatArray], tokens: Sequence[int], rng: np.random.Generator) -> Evidence:
    """Judge `tokens`, each against the law [V] of its own prefix."""
    top = np.array([law.max() for law in laws])
    hits = sum(law.argmax() == token for law, token in zip(laws, tokens, strict=True))
    places = ranks(laws, tokens, rng)
    return Evidence(
        surprise=surprise_z(laws, tokens),
        top=_z(hits - top.sum(), (top * (1 - top)).sum()),
        uniform=float(stats.kstest(places, "uniform").pvalue),
        pairs=_pairs(places),
    )


def surprise_z(laws: Sequence[FloatArray], tokens: Sequence[int]) -> float:
    """Σ(−ln p(token) − H) / √(Σ Var): a martingale, N(0, 1) when the tokens are draws.

    Infinite for a token that p excludes.
    """
    total = variance = 0.0
    for law, token in zip(laws, tokens, strict=True):
        if law[token] == 0:
            return math.inf
        p = law[law > 0]
        surprise = -np.log(p)
        entropy = float(p @ surprise)
        total -= math.log(law[token]) + entropy
        variance += float(p @ (surprise - entropy) ** 2)
    return _z(total, variance)


def ranks(
    laws: Sequence[FloatArray], tokens: Sequence[int], rng: np.random.Generator
) -> FloatArray:
    """Where each token lies in its law [n]: the mass of likelier ids, and a random part of its own.

    Uniform on [0, 1) and independent when the tokens are draws (the probability integral
    transform, randomised because a law over tokens has steps).
    """
    places = np.empty(len(tokens))
    for i, (law, token) in enumerate(zip(laws, tokens, strict=True)):
        before = (law > law[token]) | ((law == law[token]) & (np.arange(law.size) < token))
        places[i] = law[before].sum() + rng.random() * law[token]
    return places


def _pairs(places: FloatArray) -> float:
    """The p-value of neighbours (first and second, third and fourth, …) being independent."""
    cells = np.minimum((places * _SIDES).astype(int), _SIDES - 1)
    left, right = cells[:-1:2], cells[1::2]
    counts = np.bincount(left * _SIDES + right, minlength=_SIDES**2)
    return float(stats.chisquare(counts).pvalue)


def _z(excess: float, variance: float) -> float:
    if variance == 0:
        return 0.0 if excess == 0 else math.copysign(math.inf, excess)
    return float(excess / math.sqrt(variance))
