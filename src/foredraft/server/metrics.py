"""What the server does, counted for Prometheus."""

import math
import time

from prometheus_client import Counter, generate_latest

from foredraft import __version__
from foredraft.core.tree import depth
from foredraft.engine.job import Job, Share, Step
from foredraft.engine.loop import Round
from foredraft.engine.scheduler import Scheduler
from foredraft.server.meters import Meters

_MEMORY_S = 60.0


class Metrics:
    """Hears what becomes of requests and shows it as a page for Prometheus.

    `stepped` must hear every step of a job that `began`, in one thread, which it holds up for some
    microseconds; `refused` and `text` may be called from any.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._meters = meters = Meters()
        target = scheduler.target
        meters.server.info({"model": target.name, "engine": target.engine, "version": __version__})
        meters.speedup.set(math.nan)  # until there is something to compare
        meters.running.set_function(lambda: scheduler.load.running)
        meters.waiting.set_function(lambda: scheduler.load.waiting)
        meters.cells.set_function(lambda: scheduler.load.cached_tokens)
        self._of_source: dict[str, tuple[Counter, ...]] = {}
        for drafter in scheduler.drafters:  # their series begin at 0, so that rates see the first
            self._by(drafter.name)
        self._speedup = _Fading()
        self._heard: dict[Job, tuple[float, float]] = {}  # its first and its last tokens

    def began(self, job: Job) -> None:
        """A request was taken."""
        self._meters.requests.inc()

    def refused(self, reason: str) -> None:
        """A request was not taken; `reason` is one word of a few."""
        self._meters.refused.labels(reason).inc()

    def stepped(self, job: Job, step: Step) -> None:
        """A job's step: a round, some tokens, its end."""
        now = time.monotonic()
        if step.round is not None and step.share is not None:
            self._count(step.round, step.share, step)
        if step.tokens:
            self._time(job, len(step.tokens), now)
        if step.finish_reason is not None:
            self._end(job, step.finish_reason, now)

    def text(self) -> bytes:
        """The page, in Prometheus' text format."""
        return generate_latest(self._meters.registry)

    def _count(self, done: Round, share: Share, step: Step) -> None:
        """A round, which is its part of the pass and of the seconds that it shared."""
        meters = self._meters
        meters.rounds.inc()
        meters.passes.inc(1 / share.sequences)
        meters.draft_s.inc(done.draft_s / share.sequences)
        meters.verify_s.inc(done.verify_s / share.sequences)
        if len(done.draft) == 0:
            return
        accepted, rejected = step.accepted, step.rejected
        counts = (1, len(done.draft), accepted, rejected)
        for counter, count in zip(self._by(done.draft.source), counts, strict=True):
            counter.inc(count)
        meters.drafted_at.count(depth(done.draft))
        meters.judged_at.count(accepted + (rejected > 0))
        meters.accepted_at.count(accepted)

    def _by(self, drafter: str) -> tuple[Counter, ...]:
        """A drafter's series: drafts, drafted, accepted and rejected tokens."""
        if drafter not in self._of_source:
            meters = self._meters
            counters = (meters.drafts, meters.drafted, meters.accepted, meters.rejected)
            self._of_source[drafter] = tuple(counter.labels(drafter) for counter in counters)
        return self._of_source[drafter]

    def _time(self, job: Job, tokens: int, now: float) -> None:
        meters = self._meters
        meters.generated.inc(tokens)
        first, last = self._heard.get(job, (now, None))
        self._heard[job] = (first, now)
        if last is None:
            meters.prompt.inc(len(job.ids))
            meters.prompt_cached.inc(job.cached_tokens)
            meters.first_token.observe(job.first_token_s or now - job.submitted)
            meters.queue.observe(job.queue_s or 0.0)
        else:
            meters.gap.observe(now - last)
            meters.inter_token.observe((now - last) / tokens, tokens)

    def _end(self, job: Job, reason: str, now: float) -> None:
        meters, result = self._meters, job.result
        meters.finished.labels(reason).inc()
        meters.prefill_s.inc(result.stats.prefill_s)
        if job not in self._heard:
            return
        first, last = self._heard.pop(job)
        meters.decode.observe(last - first)
        meters.whole.observe(now - job.submitted)
        if result.plain_step_s is not None:
            actual = result.stats.decode_s
            plain = result.plain_step_s * result.stats.generated_tokens
            meters.actual_s.inc(actual)
            meters.plain_s.inc(plain)
            meters.speedup.set(self._speedup.of(plain, actual))


class _Fading:
    """plain / actual seconds in all, where the last minute of decoding counts most."""

    def __init__(self) -> None:
        self._plain = self._actual = 0.0

    def of(self, plain: float, actual: float) -> float:
        kept = math.exp(-actual / _MEMORY_S)
        self._plain = self._plain * kept + plain
        self._actual = self._actual * kept + actual
        return self._plain / self._actual if self._actual else math.nan
