"""What a generation gives: its tokens, and its counts."""

from dataclasses import dataclass, field

from foredraft.core.stats import Stats


@dataclass(frozen=True, slots=True)
class Token:
    """One emitted token: its id, the text it makes safe to show, and whether it was drafted.

    `logprob`, `top_logprobs` (id → logprob) and `rank` (1 is the likeliest) come from p, the law
    the token was chosen from; None unless the request asks for logprobs. `drafter` is whose token
    it was.
    """

    id: int
    text: str
    from_draft: bool
    logprob: float | None = None
    top_logprobs: dict[int, float] | None = None
    rank: int | None = None
    drafter: str | None = None


@dataclass(slots=True)
class Result:
    """A finished (or abandoned) generation. `finish_reason` is eos, stop, length or context."""

    text: str = ""
    tokens: list[Token] = field(default_factory=list)
    finish_reason: str | None = None
    seed: int = 0
    stats: Stats = field(default_factory=Stats)
    plain_step_s: float | None = None

    @property
    def speedup(self) -> float | None:
        """Decode speed over plain decoding at `plain_step_s` a token; None if that is unknown."""
        return None if self.plain_step_s is None else self.stats.tokens_per_s * self.plain_step_s
