"""What the engine asks of a way of drafting. A new method is one file with one such class."""

from typing import Protocol

from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft, Verdict


class Drafter(Protocol):
    """Proposes what may come next; may keep state per sequence, dropped by `close`."""

    name: str
    free: bool
    """Whether a proposal costs next to nothing (no model runs), so that it may be made and dropped."""
    expected: tuple[tuple[float, float], ...]
    """(evidence from, chance of acceptance), ascending: what to expect before anything is measured."""

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        """At most `limit` tokens after the committed ones; an empty draft is a plain step.

        Exactness: whether a token is proposed may depend on everything before it, never on that
        token itself or on later ones.
        """

    def observe(self, sequence: TextSequence, verdict: Verdict) -> None:
        """Learn what became of the last draft."""

    def close(self, sequence: TextSequence) -> None:
        """The sequence has ended or was abandoned."""
