"""Two meters that take a whole step at once, where the library's take one token at a time."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector, CollectorRegistry

MOST_POSITIONS = 32
"""Draft positions with counts of their own; tokens beyond are in the totals alone."""


class ByPosition(Collector):
    """A counter labelled with the draft position, 0 the first. One thread counts."""

    def __init__(self, name: str, about: str, registry: CollectorRegistry) -> None:
        self._name, self._about = name, about
        self._reached = [0] * (MOST_POSITIONS + 1)
        registry.register(self)

    def count(self, positions: int) -> None:
        """One more draft for each of the first `positions`."""
        self._reached[min(positions, MOST_POSITIONS)] += 1

    def collect(self) -> Iterator[CounterMetricFamily]:
        family = CounterMetricFamily(self._name, self._about, labels=["position"])
        at_least = list(accumulate(reversed(self._reached)))[::-1]
        for position, count in enumerate(at_least[1:]):
            if count:
                family.add_metric([str(position)], count)
        yield family


class Weighted(Collector):
    """A histogram whose observations may count several times. One thread observes."""

    def __init__(
        self, name: str, about: str, registry: CollectorRegistry, buckets: Sequence[float]
    ) -> None:
        self._name, self._about, self._bounds = name, about, buckets
        self._counts, self._sum = [0] * (len(buckets) + 1), 0.0
        registry.register(self)

    def observe(self, value: float, times: int) -> None:
        self._counts[bisect_left(self._bounds, value)] += times
        self._sum += value * times

    def collect(self) -> Iterator[HistogramMetricFamily]:
        bounds = [*map(str, self._bounds), "+Inf"]
        buckets = list(zip(bounds, accumulate(self._counts), strict=True))
        yield HistogramMetricFamily(self._name, self._about, buckets, self._sum)
