"""Whether long texts were drawn from the laws p that their target gives them, whatever their shape.

A chi-square needs many texts from one prefix. These need one text, in which every token follows
another prefix and another law, and only the rows that verification computes anyway. They judge
each token given its prefix: noise used twice, which ties tokens to each other but leaves each law
right, shows in joint laws (runs.py) and in the text of level `coupled`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from foredraft.core.types import FloatArray


@dataclass(frozen=True)
class Evidence:
    """What speaks against tokens being draws from their laws.

    `surprise` is z of their surprise −ln p against the entropies, `top` z of how often the most
    likely token came, and `uniform` the p-value of their `ranks` being uniform.
    """

    surprise: float
    top: float
    uniform: float

    @property
    def p_value(self) -> float:
        """The least of the three p-values times three: its false alarms stay below its level."""
        normal = (2 * float(stats.norm.sf(abs(z))) for z in (self.surprise, self.top))
        return min(1.0, 3 * min(*normal, self.uniform))


def evidence(
    laws: Sequence[FloatArray], tokens: Sequence[int], rng: np.random.Generator
) -> Evidence:
    """Judge `tokens`, each against the law [V] that its own prefix gives it."""
    best = np.array([law.max() for law in laws])
    hits = sum(law.argmax() == token for law, token in zip(laws, tokens, strict=True))
    return Evidence(
        surprise=surprise(laws, tokens),
        top=_z(hits - best.sum(), (best * (1 - best)).sum()),
        uniform=float(stats.kstest(ranks(laws, tokens, rng), "uniform").pvalue),
    )


def surprise(laws: Sequence[FloatArray], tokens: Sequence[int]) -> float:
    """Σ(−ln p(token) − H) / √(Σ Var): a martingale, about N(0, 1) when the tokens are draws.

    Infinite for a token that p excludes; 0 for greedy laws that were obeyed.
    """
    total = variance = 0.0
    for law, token in zip(laws, tokens, strict=True):
        if law[token] == 0:
            return math.inf
        p = law[law > 0]
        cost = -np.log(p)
        entropy = float(p @ cost)
        total -= math.log(law[token]) + entropy
        variance += float(p @ (cost - entropy) ** 2)
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
        likelier = (law > law[token]) | ((law == law[token]) & (np.arange(law.size) < token))
        places[i] = law[likelier].sum() + rng.random() * law[token]
    return places


def _z(excess: float, variance: float) -> float:
    if variance == 0:
        return math.copysign(math.inf, excess) if excess else 0.0
    return float(excess / math.sqrt(variance))
