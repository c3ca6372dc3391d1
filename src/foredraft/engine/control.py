"""What decides each round's draft, and what it says about its choice."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from foredraft.core.sequence import TextSequence
from foredraft.core.tree import best_path, subtree
from foredraft.core.types import Draft
from foredraft.drafters.base import Drafter


@dataclass(frozen=True, slots=True)
class Option:
    """One way to spend a round: verify `drafted` tokens, get `tokens` (expected) in `seconds`."""

    drafter: str
    drafted: int
    tokens: float
    seconds: float

    def gain(self, rate: float) -> float:
        """Tokens above what the same time brings at `rate` tokens per second."""
        return self.tokens - rate * self.seconds


@dataclass(frozen=True, slots=True)
class Decision:
    """What was chosen for a round and from what; `rate` is the tokens per second to beat."""

    options: tuple[Option, ...]
    chosen: Option
    rate: float
    why: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a round emitted and what it took, drafts and pass shared by `sequences` texts."""

    emitted: Sequence[int]
    draft_s: float
    verify_s: float
    sequences: int = 1


class Controller(Protocol):
    """Proposes each round's draft for one text."""

    decision: Decision | None
    """The last choice, or None where there was none to make."""

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        """At most `limit` tokens to verify; none is a plain step."""

    def observe(self, outcome: Outcome) -> None:
        """Learn from the round that followed the last proposal."""


class Fixed:
    """Always one drafter and draft length; without `trees` a tree's likeliest path is kept."""

    decision: Decision | None = None

    def __init__(self, drafter: Drafter, draft_len: int, *, trees: bool = True) -> None:
        self._drafter = drafter
        self._draft_len = draft_len
        self._trees = trees

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        draft = self._drafter.propose(sequence, min(limit, self._draft_len))
        if self._trees or draft.is_chain:
            return draft
        return subtree(draft, best_path(draft, draft.evidence or [1.0] * len(draft)))

    def observe(self, outcome: Outcome) -> None:
        pass
