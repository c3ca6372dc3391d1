"""A round being decided for one text, and the pass that it would be part of."""

from dataclasses import dataclass, field

from foredraft.core.sequence import TextSequence
from foredraft.core.shape import Shape
from foredraft.core.tree import depth
from foredraft.core.types import Draft, Exactness
from foredraft.drafters.base import CostlyDrafter, GoOn, Wanted
from foredraft.engine.control import Option
from foredraft.engine.prices import Prices
from foredraft.engine.record import Record
from foredraft.targets.base import Target


@dataclass(frozen=True, slots=True)
class Means:
    """What this request's passes may hold: `trees`, and a sampled draft only `whole`."""

    trees: bool
    whole: bool

    @classmethod
    def of(cls, target: Target, exactness: Exactness) -> "Means":
        """What a target can do, and an exactness level allows."""
        trees = target.capabilities.trees and exactness is not Exactness.BITWISE
        return cls(trees, whole=exactness is Exactness.DISTRIBUTION)


@dataclass(slots=True)
class Company:
    """How many texts share the passes of a costly drafter; fewer, as one after another stops."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class Setting:
    """The pass a text's draft would be part of: `others` rows of other texts, `sequences` in all,
    and the `company` in which a costly drafter is asked.

    `rate`: the tokens per second that its time brings anyway.
    """

    prices: Prices
    rate: float
    others: int = 0
    sequences: int = 1
    company: Company = field(default_factory=Company)

    def seconds(self, drafted: int) -> float:
        """Of the pass, if this text drafts so many tokens."""
        return self.prices.verify(self.others + 1 + drafted, self.sequences)

    @property
    def trees(self) -> bool:
        """Whether drafts may branch. Each leaf takes the place of a sequence, so where several
        texts share a pass, whose rows go to their likeliest tokens anyway, none does."""
        return self.sequences == 1

    def draft(self, drafter: str) -> float:
        return self.prices.draft(drafter, self.company.count)


@dataclass(slots=True)
class Turn:
    """A round being decided for one text: the free offer, how much of it, and the draft by now.

    `chances`: of the draft's nodes, each given its parent; `reached`: with all above them, in the
    `order` in which the nodes are worth taking.
    """

    sequence: TextSequence
    limit: int
    draft: Draft
    chances: list[float]
    order: list[int]
    reached: list[float]
    options: list[Option] = field(default_factory=list)
    chosen: Option | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """A costly drafter that is to be asked: for how much, for as long as `go_on` says, and in what
    shape if it may branch; why, and whether it has much to read first (its time then says nothing
    about a token's)."""

    drafter: CostlyDrafter
    record: Record
    limit: int
    go_on: GoOn
    shape: Shape | None
    reading: bool
    why: str

    def wanted(self, sequence: TextSequence) -> Wanted:
        return sequence, self.limit, self.go_on, self.shape

    @property
    def passes(self) -> int:
        """How many its offer took."""
        return self.drafter.passes(depth(self.record.offer)) if self.record.offer else 0


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of an Ask: the best part of the draft, and whether it was used."""

    ask: Ask
    option: Option
    used: bool
