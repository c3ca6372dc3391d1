"""What is known of one drafter: over all texts (Arm), and in one of them (Record)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from foredraft.core.tree import followed
from foredraft.core.types import Draft
from foredraft.drafters.base import Drafter
from foredraft.engine.odds import Odds, TextOdds

_RANKS = (0.7, 0.35, 0.25, 0.2, 0.15, 0.1)
"""α of a drafter before its first outcome, counted as eight tokens, and that of its second choices
where the first was refused, and so on; of a text, those of the texts before it, counted the same.
"""
_WEIGHT = 8.0
_MEMORY = 0.98
_LONG_MEMORY = 0.998
_ROUNDS = 0.9


@dataclass(slots=True)
class Ranks:
    """P(a node's child b is accepted | its elder children are not), by b: the first is α."""

    chances: Sequence[float]
    memory: float
    kept: list[float] = field(init=False)
    judged: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.kept = [_WEIGHT * chance for chance in self.chances]
        self.judged = [_WEIGHT] * len(self.chances)

    def learn(self, rank: int, taken: bool) -> None:
        self.kept[rank] = self.memory * self.kept[rank] + taken
        self.judged[rank] = self.memory * self.judged[rank] + 1
        self.chances = [kept / judged for kept, judged in zip(self.kept, self.judged, strict=True)]


@dataclass(slots=True)
class Arm:
    """A drafter and what its tokens, and their evidence, have been worth in all texts so far."""

    drafter: Drafter
    odds: Odds = field(init=False)
    ranks: Ranks = field(default_factory=lambda: Ranks(_RANKS, _LONG_MEMORY))

    def __post_init__(self) -> None:
        self.odds = Odds(self.drafter.expected)

    def like(self, drafter: Drafter) -> "Arm":
        """An arm of another drafter of the same kind: what was learned of one holds for both."""
        arm = Arm(drafter)
        arm.odds, arm.ranks = self.odds, self.ranks
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
        self._ranks = Ranks(arm.ranks.chances, _MEMORY)
        self._rounds = self._tokens = self._seconds = 0.0

    @property
    def ranks(self) -> Sequence[float]:
        """In this text: α, and what the choices after the first are worth; see Ranks."""
        return self._ranks.chances

    def chances(self, draft: Draft) -> list[float]:
        """Each token's chance, given that its parent is accepted."""
        return [self.odds.chance(one) for one in _evidence(draft)]

    def learn(self, emitted: Sequence[int]) -> None:
        """Judge the last offer, verified or not, by what the text became."""
        if self.offer is None:
            return
        evidence = _evidence(self.offer)
        judged: dict[int, int] = {}  # how many children of a node were, until one was taken
        for node, taken in followed(self.offer, emitted):
            self.odds.learn(evidence[node], taken)
            parent = self.offer.parents[node]
            rank = judged.get(parent, 0)
            judged[parent] = len(_RANKS) if taken else rank + 1
            if rank < len(_RANKS):
                self._ranks.learn(rank, taken)
                self._arm.ranks.learn(rank, taken)
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
