"""What the last minute's requests did, added up by the second."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from foredraft.engine.control import Decision
from foredraft.engine.job import Job, Step
from foredraft.engine.loop import Round

WINDOW_S = 60.0


@dataclass(slots=True)
class _Second:
    """Counts of one second; `plain_s` is what its ended answers would have taken plainly."""

    at: float
    requests: int = 0
    tokens: int = 0
    passes: int = 0
    accepted: int = 0
    rejected: int = 0
    decode_s: float = 0.0
    plain_s: float = 0.0
    drafts: dict[str, list[float]] = field(default_factory=dict)  # [tokens, seconds]


class Recent:
    """A watcher whose `summary` covers the last minute; `decision` is the latest choice made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.decision: Decision | None = None
        self._clock = clock
        self._seconds: deque[_Second] = deque()

    def began(self, job: Job) -> None:
        self._now().requests += 1

    def refused(self, reason: str) -> None:
        pass

    def stepped(self, job: Job, step: Step) -> None:
        now = self._now()
        now.tokens += len(step.tokens)
        if step.round is not None:
            self._count(now, step.round, step)
        plain = job.result.plain_step_s
        if step.finish_reason is not None and plain is not None:
            now.decode_s += job.result.stats.decode_s
            now.plain_s += plain * job.result.stats.generated_tokens

    def summary(self) -> dict[str, Any]:
        """The `recent` object of the status; null where nothing was there to measure.

        `tokens_per_s` is of all requests together, over the part of the minute since the first.
        """
        self._forget()
        passes, tokens, decode = self._sum("passes"), self._sum("tokens"), self._sum("decode_s")
        accepted = self._sum("accepted")
        judged = accepted + self._sum("rejected")
        lasted = max(1.0, self._clock() - self._seconds[0].at) if self._seconds else 1.0
        return {
            "requests": self._sum("requests"),
            "generated_tokens": tokens,
            "acceptance_rate": accepted / judged if judged else None,
            "tokens_per_target_pass": tokens / passes if passes else None,
            "speedup": self._sum("plain_s") / decode if decode else None,
            "tokens_per_s": tokens / lasted,
        }

    def draft_s(self) -> dict[str, float]:
        """Seconds a drafted token, of each drafter that drafted."""
        self._forget()
        sums: dict[str, list[float]] = {}
        for second in self._seconds:
            for name, (tokens, seconds) in second.drafts.items():
                old = sums.get(name, [0, 0])
                sums[name] = [old[0] + tokens, old[1] + seconds]
        return {name: seconds / tokens for name, (tokens, seconds) in sums.items()}

    def last(self) -> dict[str, Any] | None:
        """The latest choice of a draft: what was chosen, from what, and why."""
        if self.decision is None:
            return None
        chosen = self.decision.chosen
        return {
            "why": self.decision.why,
            "drafter": chosen.drafter,
            "drafted": chosen.drafted,
            "options": [asdict(option) for option in self.decision.options],
        }

    def _count(self, now: _Second, done: Round, step: Step) -> None:
        now.passes += 1
        now.accepted += step.accepted
        now.rejected += step.rejected
        self.decision = done.decision or self.decision
        if len(done.draft):
            tokens, seconds = now.drafts.get(done.draft.source, [0, 0])
            now.drafts[done.draft.source] = [tokens + len(done.draft), seconds + done.draft_s]

    def _now(self) -> _Second:
        self._forget()
        now = self._clock()
        if not self._seconds or now - self._seconds[-1].at >= 1:
            self._seconds.append(_Second(now))
        return self._seconds[-1]

    def _forget(self) -> None:
        while self._seconds and self._clock() - self._seconds[0].at > WINDOW_S:
            self._seconds.popleft()

    def _sum(self, name: str) -> Any:
        return sum(getattr(second, name) for second in self._seconds)
