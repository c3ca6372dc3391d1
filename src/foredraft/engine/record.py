"""What is known of one drafter: over all texts (Arm), and in one of them (Record)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from foredraft.core.tree import followed
from foredraft.core.types import Draft
from foredraft.drafters.base import Drafter
from foredraft.engine.odds import Odds, TextOdds

_ALPHA = 0.7
"""α of a drafter before its first outcome, counted as eight tokens; of a text, that of those before
it, counted the same."""
_WEIGHT = 8.0
_MEMORY = 0.98
_LONG_MEMORY = 0.998
_ROUNDS = 0.9


@dataclass(slots=True)
class Arm:
    """A drafter and what its tokens, and their evidence, have been worth in all texts so far."""

    drafter: Drafter
    odds: Odds = field(init=False)
    kept: float = _ALPHA * _WEIGHT
    judged: float = _WEIGHT

    def learn(self, taken: bool) -> None:
        self.kept = _LONG_MEMORY * self.kept + taken
        self.judged = _LONG_MEMORY * self.judged + 1

    def __post_init__(self) -> None:
        self.odds = Odds(self.drafter.expected)

    def like(self, drafter: Drafter) -> "Arm":
        """An arm of another drafter of the same kind: what was learned of one holds for both."""
        arm = Arm(drafter, self.kept, self.judged)
        arm.odds = self.odds
        return arm


class Record:
    """A drafter's offers in one text and what became of them; recent outcomes count more.

    `missed`: seconds that it would have gained, had it read the text, weighed by the controller.
    """

    def __init__(self, arm: Arm) -> None:
        self.drafter = arm.drafter
        self.odds = TextOdds(arm.odds)
        self.offer: Draft | None = None
        self.missed = 0.0
        self._arm = arm
        self._kept, self._judged = _WEIGHT * arm.kept / arm.judged, _WEIGHT
        self._rounds = self._tokens = self._seconds = 0.0

    @property
    def acceptance(self) -> float:
        """α in this text."""
        return self._kept / self._judged

    def chances(self, draft: Draft) -> list[float]:
        """Each token's chance, given that its parent is accepted."""
        return [self.odds.chance(one) for one in _evidence(draft)]

    def learn(self, emitted: Sequence[int]) -> None:
        """Judge the last offer, verified or not, by what the text became."""
        if self.offer is None:
            return
        evidence = _evidence(self.offer)
        for node, taken in followed(self.offer, emitted):
            self.odds.learn(evidence[node], taken)
            self._kept = _MEMORY * self._kept + taken
            self._judged = _MEMORY * self._judged + 1
            self._arm.learn(taken)
        self.offer = None

    def spent(self, tokens: float, seconds: float) -> None:
        """A round with this drafter brought `tokens` and took `seconds`."""
        self._rounds = _ROUNDS * self._rounds + 1
        self._tokens = _ROUNDS * self._tokens + tokens
        self._seconds = _ROUNDS * self._seconds + seconds

    def realised(self, tokens: float, seconds: float) -> tuple[float, float]:
        """An estimate for the next round, corrected by what the last rounds really brought."""
        weight = _WEIGHT + self._rounds
        return (
            (_WEIGHT * tokens + self._tokens) / weight,
            (_WEIGHT * seconds + self._seconds) / weight,
        )


def _evidence(draft: Draft) -> Sequence[float]:
    """What speaks for each token; a drafter that says nothing has one chance for all."""
    return draft.evidence or [0.0] * len(draft)
