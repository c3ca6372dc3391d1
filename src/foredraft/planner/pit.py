"""Whether tokens were drawn from their laws: how surprising they were, and where each lay in its
law (the probability integral transform)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from foredraft.core.types import FloatArray

FALSE_ALARM = 1e-3
"""How often tokens that are draws from their laws are said not to be, all tests together."""
DRAWS = 20_000
_SEEN = 0.9


@dataclass(frozen=True, slots=True)
class Fit:
    """What speaks against tokens being draws from the laws p that their prefixes gave them.

    `surprise` is the mean −ln p, which `entropy` expects, with standard error `error`; `likeliest`
    counts how often the top token came, which `likeliest_expected` expects. `distance` is
    Kolmogorov's, of the places from uniform; `correlation` that of neighbouring places. A
    p-value is the chance of such a number or a stranger one. `impossible` tokens have p = 0 and
    are in none of the numbers.
    """

    tokens: int
    impossible: int
    surprise: float
    entropy: float
    error: float
    likeliest: int
    likeliest_expected: float
    distance: float
    correlation: float
    p_values: dict[str, float]

    @property
    def surprise_z(self) -> float:
        return (self.surprise - self.entropy) / self.error if self.error else 0.0

    @property
    def off(self) -> tuple[str, ...]:
        """The tests that failed at FALSE_ALARM shared among them (Bonferroni)."""
        level = FALSE_ALARM / len(self.p_values)
        failed = tuple(name for name, chance in self.p_values.items() if chance < level)
        return ("impossible",) * (self.impossible > 0) + failed

    @property
    def visible(self) -> float:
        """The error of the mean surprise, in nats, that would show nine times in ten."""
        level = FALSE_ALARM / len(self.p_values)
        normal = NormalDist()
        return self.error * (normal.inv_cdf(1 - level / 2) + normal.inv_cdf(_SEEN))


class Evidence:
    """Collects tokens with their laws, text by text, and judges them.

    Surprise and likeliest tokens are compared with `draws` texts drawn from the same laws: where
    most tokens are nearly certain, their sums are far from normal in the tails that count.
    """

    def __init__(self, rng: np.random.Generator, draws: int = DRAWS) -> None:
        self._rng = rng
        self._places: list[list[float]] = []
        self._impossible = self._likeliest = 0
        self._surprise = self._entropy = self._variance = self._likeliest_expected = 0.0
        self._drawn_surprise = np.zeros(draws)
        self._drawn_likeliest = np.zeros(draws)

    def begin(self) -> None:
        """What is added next is another text's."""
        self._places.append([])

    def add(self, p: FloatArray, token: int) -> None:
        """A token and the law [V] it should have been drawn from."""
        if p[token] == 0:
            self._impossible += 1
            return
        support = np.flatnonzero(p)
        support = support[np.argsort(-p[support], kind="stable")]  # likeliest first
        law, rank = p[support], int(np.flatnonzero(support == token)[0])
        edges, cost = law.cumsum(), -np.log(law)
        drawn = np.searchsorted(edges, self._rng.random(self._drawn_surprise.size) * edges[-1])
        drawn = np.minimum(drawn, law.size - 1)
        entropy = float(law @ cost)
        self._surprise += float(cost[rank])
        self._entropy += entropy
        self._variance += float(law @ (cost - entropy) ** 2)
        self._drawn_surprise += cost[drawn]
        self._likeliest += rank == 0
        self._likeliest_expected += float(law[0])
        self._drawn_likeliest += drawn == 0
        # A law over tokens has steps; a random part of the token's own step makes places uniform.
        self._places[-1].append(float(edges[rank] - self._rng.random() * law[rank]))

    def fit(self) -> Fit:
        """The judgement on all that was added; needs one possible token."""
        places = np.concatenate(self._places)
        count = places.size
        distance = uniform_distance(places)
        correlation, pairs = _neighbours(self._places)
        return Fit(
            tokens=count,
            impossible=self._impossible,
            surprise=self._surprise / count,
            entropy=self._entropy / count,
            error=math.sqrt(self._variance) / count,
            likeliest=self._likeliest,
            likeliest_expected=self._likeliest_expected,
            distance=distance,
            correlation=correlation,
            p_values={
                "surprise": _rarity(self._surprise, self._drawn_surprise),
                "likeliest": _rarity(self._likeliest, self._drawn_likeliest),
                "places": kolmogorov(distance, count),
                "neighbours": math.erfc(abs(correlation) * math.sqrt(pairs / 2)),
            },
        )


def uniform_distance(places: FloatArray) -> float:
    """The largest gap between the share of `places` below x and x itself, over x in [0, 1]."""
    ordered, count = np.sort(places), places.size
    steps = np.arange(count + 1) / count
    return float(max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max()))


def kolmogorov(distance: float, count: int) -> float:
    """The chance that `count` uniform numbers lie at least `distance` from uniform.

    Kolmogorov's series with Stephens' correction for finite samples (Biometrika 1970).
    """
    scaled = (math.sqrt(count) + 0.12 + 0.11 / math.sqrt(count)) * distance
    if scaled < 0.2:  # where the series needs many terms and the chance is 1 to twelve digits
        return 1.0
    terms = ((-1) ** (k - 1) * math.exp(-2 * (k * scaled) ** 2) for k in range(1, 50))
    return min(1.0, max(0.0, 2 * math.fsum(terms)))


def _neighbours(texts: Sequence[Sequence[float]]) -> tuple[float, int]:
    """The correlation of places with those before them in their text, and how many pairs."""
    centred = [np.array(text) - 0.5 for text in texts]
    products = np.concatenate([text[1:] * text[:-1] for text in centred])
    return (12 * float(products.mean()), products.size) if products.size else (0.0, 0)


def _rarity(seen: float, drawn: FloatArray) -> float:
    """How often draws stray at least as far as `seen` to either side, itself counted as one."""
    tail = 1 + min((drawn >= seen).sum(), (drawn <= seen).sum())
    return min(1.0, 2 * float(tail) / (drawn.size + 1))
