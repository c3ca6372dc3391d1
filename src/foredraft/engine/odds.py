"""What a drafter's evidence is worth: its tokens' chance of acceptance, learned as it is used."""

import math
from bisect import bisect_right

_WEIGHT = 12.0
"""How many judged tokens the expectation counts for."""
_MEMORY = 0.998
_FORGET = 0.99
_DOUBT = -1.0
"""Log-odds below the table with which a text begins: of many offers the overrated are chosen."""
_LEAST, _MOST = 0.01, 0.9


class Odds:
    """Chance of acceptance by evidence, over all texts of a Generator.

    Starts from the drafter's own expectation; older outcomes fade, so habits may change.
    """

    def __init__(self, expected: tuple[tuple[float, float], ...]) -> None:
        self._edges = [edge for edge, _ in expected]
        self._kept = [_WEIGHT * chance for _, chance in expected]
        self._judged = [_WEIGHT for _ in expected]

    def chance(self, evidence: float) -> float:
        at = self._at(evidence)
        return min(_MOST, max(_LEAST, self._kept[at] / self._judged[at]))

    def learn(self, evidence: float, accepted: bool) -> None:
        at = self._at(evidence)
        self._kept[at] = _MEMORY * self._kept[at] + accepted
        self._judged[at] = _MEMORY * self._judged[at] + 1

    def _at(self, evidence: float) -> int:
        return max(0, bisect_right(self._edges, evidence) - 1)


class TextOdds:
    """The same for one text, whose habits differ: prose repeats less than the table says, an edited
    file more. One shift in log-odds serves all evidence, so a few outcomes are enough.

    The shift is a Gaussian belief updated as in online logistic regression.
    """

    def __init__(self, odds: Odds) -> None:
        self._odds = odds
        self._shift = _DOUBT
        self._precision = 1.0

    def chance(self, evidence: float) -> float:
        base = self._odds.chance(evidence)
        return 1 / (1 + (1 - base) / base * math.exp(-self._shift))

    def learn(self, evidence: float, accepted: bool) -> None:
        chance = self.chance(evidence)
        self._precision = max(1.0, _FORGET * self._precision) + chance * (1 - chance)
        self._shift = max(-4.0, min(4.0, self._shift + (accepted - chance) / self._precision))
        self._odds.learn(evidence, accepted)
