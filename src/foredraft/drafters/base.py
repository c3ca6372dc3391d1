"""What the engine asks of a way of drafting. A new method is one file with one such class."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeGuard

from foredraft.core.sequence import TextSequence
from foredraft.core.shape import Shape
from foredraft.core.types import Draft

GoOn = Callable[[Sequence[float]], bool]
"""(evidence of the tokens drafted so far) → whether to draft one more."""
Wanted = tuple[TextSequence, int, GoOn | None, Shape | None]
"""The arguments of one `propose`."""


class Drafter(Protocol):
    """Proposes what may come next; may keep state per sequence, dropped by `close`."""

    name: str
    free: bool
    """Whether no model runs for a proposal: it may be made every round, and dropped."""
    expected: tuple[tuple[float, float], ...]
    """(evidence from, chance of acceptance), ascending: what holds before anything is measured."""

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        """At most `limit` tokens after the committed ones; an empty draft is a plain step.

        Exactness: whether a token is proposed may depend on everything before it, never on that
        token itself or on later ones.
        """

    def close(self, sequence: TextSequence) -> None:
        """The sequence has ended or was abandoned."""


class CostlyDrafter(Drafter, Protocol):
    """A drafter that is not free: it pays for each pass, so it can be told when to stop.

    `reach` is the most tokens deep it drafts, None for no end; `branches` whether it may be asked
    for a tree.
    """

    branches: bool

    @property
    def reach(self) -> int | None: ...

    @property
    def signature(self) -> str:
        """Everything its speed depends on but the machine; see Target.signature."""

    def unread(self, sequence: TextSequence) -> int:
        """How many tokens of the text it would have to read before its first proposal."""

    def passes(self, depth: int) -> int:
        """How many passes of its model a draft so deep takes, however wide it is."""

    def propose(
        self,
        sequence: TextSequence,
        limit: int,
        go_on: GoOn | None = None,
        shape: Shape | None = None,
    ) -> Draft:
        """As above; `go_on` is asked after each token but the last. The token asked about stays:
        dropping it would make its existence depend on itself, which biases the output.

        With a `shape` the draft may branch: tokens that are drawn take just this shape, since none
        may decide it; others stand where they are likeliest, and `go_on` hears of the best path."""

    def propose_together(self, wanted: Sequence[Wanted]) -> list[Draft]:
        """The same for several texts, whose drafts share the model's passes."""


def is_costly(drafter: Drafter) -> TypeGuard[CostlyDrafter]:
    """Whether asking a drafter costs model time."""
    return not drafter.free
