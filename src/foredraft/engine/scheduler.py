"""Many requests at once: they join and leave at any round, and share drafts and passes."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from foredraft.core.errors import ForedraftError
from foredraft.engine.calibrate import measure_together
from foredraft.engine.generation import Generation
from foredraft.engine.generator import Generator
from foredraft.engine.job import Job, Listener, Speculation, Step
from foredraft.engine.line import Busy, Line
from foredraft.engine.menu import Menu
from foredraft.engine.pool import Pool
from foredraft.engine.request import Request
from foredraft.engine.rounds import Rounds
from foredraft.engine.running import Running
from foredraft.targets.base import Progress

__all__ = ["Busy", "Closing", "Load", "Scheduler"]

_log = logging.getLogger(__name__)
_CHUNK = 512
_LEAST_CHUNK = 16
_BITWISE = 4
_STALL_S = 0.25
_STALL_ROUNDS = 3
"""A chunk of a prompt holds up the texts that are being written for about this long at most."""
_MARGIN = 16
"""Cells kept free for each text that runs, so that joining one does not drive out another."""


class Closing(ForedraftError):
    """The scheduler takes no more requests: it is shutting down."""


@dataclass(frozen=True, slots=True)
class Load:
    """What the scheduler has to do: requests running and waiting, and the tokens in its cache."""

    running: int
    waiting: int
    cached_tokens: int


class Scheduler:
    """Runs requests on one target in a thread of its own, their drafts and passes together.

    `slots` is how many run at once, fewer where the target holds no more sequences; `queue` is how
    many may wait for a place. Each turn of its loop lets who is done or gone leave, lets who waits
    join, reads pieces of prompts and makes one round for all who have read theirs. A cache that is
    full drives out the request that came last, which goes on later where it was.
    """

    def __init__(
        self,
        generator: Generator,
        *,
        slots: int = 16,
        queue: int = 64,
        progress: Progress | None = None,
    ) -> None:
        if slots < 1 or queue < 0:
            raise ForedraftError(f"There are {slots} slots and {queue} places; 1 and 0 are least.")
        self.target = generator.target
        self.drafters = generator.drafters
        capabilities = self.target.capabilities
        most = capabilities.sequences or 2 * slots
        # Half of them stay free for the branches of a tree, one to a leaf.
        most = most // 2 if capabilities.sequences and capabilities.trees else most
        self.slots = slots = min(slots, most)
        self._generator = generator
        self._menu = Menu(self.target, self.drafters)
        self._pool = Pool(self.target, min(slots, most - slots))
        self._prices = generator.calibrate(False, progress)
        if self._prices.knows_together < slots:
            measure_together(self.target, self._prices, slots, progress)
        self._rounds = {False: Rounds(self.target, self._prices)}
        self._texts: dict[Job, Generation] = {}
        self._line = Line(queue)
        self._running: list[Running] = []
        self._read_s = self._prices.verify(32) / 32
        self._job_s = 1.0
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._thread.start()

    @property
    def modes(self) -> tuple[str, ...]:
        """What Speculation.mode may be here."""
        return self._menu.modes

    @property
    def load(self) -> Load:
        return Load(len(self._running), len(self._line), self._pool.tokens)

    def plain_s(self, sequences: int) -> float:
        """Seconds of a pass over so many sequences without drafts."""
        return self._rounds[False].plain_s(sequences)

    def curve(self, most: int) -> list[float]:
        """v(1) … v(most); see Prices."""
        return self._prices.curve(most)

    def submit(
        self,
        ids: Sequence[int],
        request: Request,
        listener: Listener,
        *,
        speculation: Speculation | None = None,
        owner: str = "",
        timeout_s: float | None = None,
    ) -> Job:
        """Queue a request; `listener` hears every step of it until the one that ends it.

        `owner` is whose request it is: places are shared out fairly among owners. Raises Busy,
        Closing, or ForedraftError for a prompt or setting that cannot work.
        """
        job = Job(ids, request, speculation or Speculation(), listener, owner)
        self._menu.check(job.speculation, request)
        generation = Generation(self.target, ids, request)
        job.result = generation.result
        job.deadline = None if timeout_s is None else job.submitted + timeout_s
        with self._changed:
            if self._closing:
                raise Closing("The server is shutting down; send the request to another.")
            self._line.join(job, max(1.0, self._job_s * (len(self._line) + 1) / self.slots))
            self._texts[job] = generation
            self._changed.notify()
        return job

    def close(self, grace_s: float = 0.0) -> None:
        """Take no more requests; those that have not ended within `grace_s` are cancelled."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(grace_s)
        with self._changed:
            for job in [*self._line, *(one.job for one in self._running)]:
                job.cancel()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._running or len(self._line) or self._closing)
                if not self._running and not len(self._line):
                    return
            self._leave()
            self._join()
            self._read()
            self._round()

    def _leave(self) -> None:
        """Let go of who was cancelled or has waited too long."""
        now = time.monotonic()
        with self._changed:
            gone = self._line.drop(lambda job: job.ends(now) is not None)
        for job in gone:
            self._over(job, Step(finish_reason=job.ends(now)))
        for one in list(self._running):
            reason = one.job.ends(now)
            if reason is not None:
                self._end(one, Step(finish_reason=reason))

    def _join(self) -> None:
        """Give free places to those whose turn it is and whose prompt the cache can take."""
        while len(self._running) < self.slots:
            with self._changed:
                owners = Counter(one.job.owner for one in self._running)
                job = self._line.next(owners, self._may_join)
                if job is None:
                    return
                needed = len(self._texts[job].sequence.tokens)
                needed += _MARGIN * (1 + len(self._running))
                if self._running and not self._fits(needed):
                    return
                self._line.leave(job)
            self._begin(job)

    def _may_join(self, job: Job) -> bool:
        """Texts at `bitwise` share nothing, and each may own a whole cache: few run at once."""
        return not job.bitwise or sum(one.job.bitwise for one in self._running) < _BITWISE

    def _begin(self, job: Job) -> None:
        generation = self._texts[job]
        try:
            prices = self._generator.calibrate(job.bitwise)
            if job.bitwise not in self._rounds:
                self._rounds[job.bitwise] = Rounds(self.target, prices)
            controller, drafters = self._menu.order(job.speculation, job.request, prices)
            cache = self._pool.take(generation.sequence.tokens[:-1], job.bitwise)
        except Exception as error:
            self._over(job, self._failure(error))
            return
        if job.queue_s is None:
            job.queue_s = time.monotonic() - job.submitted
            job.cached_tokens = len(cache.tokens)
        self._running.append(Running(job, self.target, generation, controller, drafters, cache))

    def _fits(self, tokens: int) -> bool:
        """Whether the cache can take so many more tokens, forgetting what is not in use."""
        cells = self.target.capabilities.cells
        while cells is not None and self._pool.tokens + tokens > cells:
            if not self._pool.forget():
                return False
        return True

    def _read(self) -> None:
        """Read prompts, or pieces of them, in turn, for as long as others may be held up."""
        writing = sum(not one.reading for one in self._running)
        left = _CHUNK
        if writing:
            stall = max(_STALL_S, _STALL_ROUNDS * self.plain_s(writing))
            left = max(_LEAST_CHUNK, min(left, int(stall / self._read_s)))
        for one in [one for one in self._running if one.reading]:
            if left > 0 and one in self._running:
                left -= self._read_piece(one, left)

    def _read_piece(self, one: Running, most: int) -> int:
        """Read the next tokens of a prompt, at most so many if its bits allow; how many it took."""
        if one.job.bitwise:
            most = _CHUNK  # how a prompt is cut shows in its bits
        if not self._make_room(min(most, one.unread)) or one not in self._running:
            return 0
        begun = time.perf_counter()
        try:
            count = one.read(most)
        except Exception as error:
            self._end(one, self._failure(error))
            return 0
        self._read_s += 0.3 * ((time.perf_counter() - begun) / max(1, count) - self._read_s)
        return count

    def _round(self) -> None:
        """One round for all who have read their prompts; those at `bitwise` each by themselves."""
        ready = [one for one in self._running if not one.reading]
        for one in ready:
            if one.job.bitwise:
                self._settle(self._rounds[True], [one], None)
        cells = self.target.capabilities.cells
        self._make_room(sum(not one.job.bitwise for one in ready))
        together = [one for one in ready if one in self._running and not one.job.bitwise]
        if together:
            free = None if cells is None else max(0, cells - self._pool.tokens - len(together))
            self._settle(self._rounds[False], together, free)

    def _settle(self, rounds: Rounds, texts: list[Running], free: int | None) -> None:
        """Make the round, and let those leave who are done or whose round failed."""
        try:
            failed = rounds.play(texts, free)
        except Exception as error:
            failed = dict.fromkeys(texts, error)
        for one, why in failed.items():
            self._end(one, self._failure(why))
        for one in texts:
            if one not in failed and one.generation.result.finish_reason is not None:
                self._end(one, None)

    def _make_room(self, tokens: int) -> bool:
        """Make the cache take so many more tokens, if need be by driving out who came last."""
        while not self._fits(tokens):
            if len(self._running) < 2:
                return False
            last = self._running.pop()
            self._pool.give(last.cache)
            with self._changed:
                self._line.rejoin(last.job)
        return True

    def _end(self, one: Running, step: Step | None) -> None:
        """Free a text's place in the round it ends in; `step` is what its job has yet to hear."""
        self._running.remove(one)
        self._pool.give(one.cache)
        try:
            one.close()
        except ForedraftError as error:  # the store could not be written: the answer stands
            _log.warning("%s", error)
        self._prices.keep()
        self._job_s += 0.2 * (time.monotonic() - one.job.submitted - self._job_s)
        self._over(one.job, step)

    def _over(self, job: Job, step: Step | None) -> None:
        del self._texts[job]
        if step is not None:
            job.result.finish_reason = step.finish_reason
            job.listener(step)

    def _failure(self, error: Exception) -> Step:
        """What a job hears of an error; one that is no person's to mend is logged in full."""
        if isinstance(error, ForedraftError):
            return Step(finish_reason="error", error=str(error), mendable=True)
        _log.error("A round failed.", exc_info=error)
        return Step(finish_reason="error", error="The engine failed; its log says how.")
