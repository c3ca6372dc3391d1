"""Whether tokens were drawn from their laws: how surprising they were, and where each lay in its
law (the probability integral transform)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from foredraft.core.types import FloatArray, IntArray

FALSE_ALARM = 1e-3
"""How often tokens that are draws from their laws are said not to be, all tests together."""
DRAWS = 20_000
_SEEN = 0.9


@dataclass(frozen=True, slots=True)
class Count:
    """How often tokens that were settled beforehand, place by place, came there."""

    places: int
    came: int
    expected: float


@dataclass(frozen=True, slots=True)
class Fit:
    """What speaks against tokens being draws from the laws p that their prefixes gave them.

    `surprise` is the mean −ln p, which `entropy` expects, with standard error `error`; `likeliest`
    counts how often the top token came, `overrated` how often one to which the draft gave more.
    `distance` is Kolmogorov's, of the places from uniform; `correlation` that of neighbouring
    places. A p-value is the chance of such a number or a stranger one. `impossible` tokens have
    p = 0 and are in none of the numbers.
    """

    tokens: int
    impossible: int
    surprise: float
    entropy: float
    error: float
    likeliest: Count
    overrated: Count
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

    Sums are compared with those of `draws` texts drawn from the same laws: where most tokens are
    nearly certain, they are far from normal in the tails that count.
    """

    def __init__(self, rng: np.random.Generator, draws: int = DRAWS) -> None:
        self._rng = rng
        self._places: list[list[float]] = []
        self._impossible = 0
        self._variance = 0.0
        self._surprise = _Sum(draws)
        self._likeliest = _Sum(draws)
        self._overrated = _Sum(draws)

    def begin(self) -> None:
        """What is added next is another text's."""
        self._places.append([])

    def add(self, p: FloatArray, token: int, overrated: IntArray | None = None) -> None:
        """A token, the law [V] it should have been drawn from, and the ids that q gives more.

        An engine that draws what it refuses from p, or accepts too much, emits those too often.
        """
        if p[token] == 0:
            self._impossible += 1
            return
        ids = np.flatnonzero(p)
        ids = ids[np.argsort(-p[ids], kind="stable")]  # likeliest first
        law, rank = p[ids], int(np.flatnonzero(ids == token)[0])
        edges, cost = law.cumsum(), -np.log(law)
        drawn = np.searchsorted(edges, self._rng.random(self._surprise.drawn.size) * edges[-1])
        drawn = np.minimum(drawn, law.size - 1)
        self._surprise.add(cost, law, rank, drawn)
        self._variance += float(law @ (cost - law @ cost) ** 2)
        self._likeliest.add(np.arange(law.size) == 0, law, rank, drawn)
        if overrated is not None and overrated.size:
            self._overrated.add(np.isin(ids, overrated), law, rank, drawn)
        # A law over tokens has steps; a random part of the token's own step makes places uniform.
        self._places[-1].append(float(edges[rank] - self._rng.random() * law[rank]))

    def fit(self) -> Fit:
        """The judgement on all that was added."""
        places = np.concatenate(self._places)
        count, distance = max(1, places.size), uniform_distance(places)
        correlation, pairs = _neighbours(self._places)
        p_values = {
            "surprise": self._surprise.rarity,
            "likeliest": self._likeliest.rarity,
            "overrated": self._overrated.rarity,
            "places": kolmogorov(distance, count),
            "neighbours": math.erfc(abs(correlation) * math.sqrt(pairs / 2)),
        }
        return Fit(
            tokens=places.size,
            impossible=self._impossible,
            surprise=self._surprise.seen / count,
            entropy=self._surprise.expected / count,
            error=math.sqrt(self._variance) / count,
            likeliest=self._likeliest.count,
            overrated=self._overrated.count,
            distance=distance,
            correlation=correlation,
            p_values=p_values,
        )


class _Sum:
    """A number of each token summed over a text, over its laws, and over texts drawn from them."""

    def __init__(self, draws: int) -> None:
        self.seen = self.expected = 0.0
        self.drawn = np.zeros(draws)
        self._terms = 0

    def add(self, numbers: npt.NDArray[Any], law: FloatArray, rank: int, drawn: IntArray) -> None:
        """`numbers` and `law` [V] of the ids; the id that came, and those that were drawn."""
        self._terms += 1
        self.seen += float(numbers[rank])
        self.expected += float(law @ numbers)
        self.drawn += numbers[drawn]

    @property
    def count(self) -> Count:
        return Count(self._terms, round(self.seen), self.expected)

    @property
    def rarity(self) -> float:
        """How often draws stray at least as far to either side as what was seen, itself one."""
        tail = 1 + min((self.drawn >= self.seen).sum(), (self.drawn <= self.seen).sum())
        return min(1.0, 2 * float(tail) / (self.drawn.size + 1))


def uniform_distance(places: FloatArray) -> float:
    """The largest gap between the share of `places` below x and x itself, over x in [0, 1]."""
    ordered, count = np.sort(places), places.size
    if count == 0:
        return 0.0
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
