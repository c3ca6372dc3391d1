"""One request among many: what it asks, what it hears, and how it is stopped."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from foredraft.core.types import Exactness
from foredraft.engine.loop import Round
from foredraft.engine.request import Request
from foredraft.engine.result import Result, Token


@dataclass(frozen=True, slots=True)
class Speculation:
    """How one request wants to be drafted for.

    `mode` is "auto", "off" or the name of one of the server's drafters. `prediction` are tokens
    the answer is expected to hold, which are drafted too. `scope` names whose earlier answers may
    be drafted from: None those of everyone without a scope.
    """

    mode: str = "auto"
    prediction: tuple[int, ...] = ()
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """The pass a round was part of: how many sequences and rows it verified together."""

    sequences: int
    rows: int


@dataclass(frozen=True, slots=True)
class Step:
    """What a job hears: the tokens of a round, or that it has ended without one.

    `finish_reason` is set on the last step alone: that of Result, or "cancelled", "timeout" or
    "error", where `error` says in one sentence what went wrong, and `mendable` whether another
    request would mend it.
    """

    tokens: tuple[Token, ...] = ()
    round: Round | None = None
    share: Share | None = None
    finish_reason: str | None = None
    error: str | None = None
    mendable: bool = False

    @property
    def accepted(self) -> int:
        """How many of its tokens were drafted."""
        return sum(token.from_draft for token in self.tokens)

    @property
    def rejected(self) -> int:
        """1 if the draft was left at a refused token, however many siblings it had there; a text
        that ends inside the accepted run was not read up to the refusal."""
        if self.round is None or len(self.tokens) == self.accepted:
            return 0
        return int(self.round.verdict.rejected > 0)


Listener = Callable[[Step], None]
"""Called in the scheduler's thread; must return at once and not raise."""


@dataclass(eq=False, slots=True)
class Job:
    """A request that was submitted. `result` is complete once its last step was heard.

    `queue_s` and `first_token_s` are seconds since it was submitted until it was begun and until
    its first token, None before that; `cached_tokens` of its prompt had been read for others.
    """

    ids: Sequence[int]
    request: Request
    speculation: Speculation
    listener: Listener
    owner: str = ""
    deadline: float | None = None
    result: Result = field(default_factory=Result)
    cached_tokens: int = 0
    queue_s: float | None = None
    first_token_s: float | None = None
    submitted: float = field(default_factory=time.monotonic)
    _cancelled: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Stop it within a round, from any thread; its last step says "cancelled"."""
        self._cancelled.set()

    @property
    def bitwise(self) -> bool:
        return self.request.exactness is Exactness.BITWISE

    def ends(self, now: float) -> str | None:
        """Why it has to end before its text does, if it has to; `now` as time.monotonic()."""
        if self._cancelled.is_set():
            return "cancelled"
        return "timeout" if self.deadline is not None and now > self.deadline else None
