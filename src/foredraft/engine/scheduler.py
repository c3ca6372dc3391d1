"""Many requests at once: they join and leave at any round."""

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from foredraft.core.errors import ForedraftError
from foredraft.engine.generator import Generator, Token
from foredraft.engine.job import Job, Listener, Share, Speculation, Step
from foredraft.engine.loop import Round
from foredraft.engine.request import Request


class Busy(ForedraftError):
    """The queue is full; `retry_s` is about when a place should be free."""

    def __init__(self, waiting: int, retry_s: float) -> None:
        super().__init__(
            f"{waiting} requests are waiting already; try again in {retry_s:.0f} s, or start the "
            "server with a longer --queue."
        )
        self.retry_s = retry_s


class Closing(ForedraftError):
    """The scheduler takes no more requests: it is shutting down."""


@dataclass(frozen=True, slots=True)
class Load:
    """What the scheduler has to do: requests running and waiting, and the cells they take up."""

    running: int
    waiting: int
    cached_tokens: int


class Scheduler:
    """Runs requests on one target in a thread of its own, their drafts and passes together.

    `slots` is how many run at once, `queue` how many may wait for one.
    """

    def __init__(self, generator: Generator, *, slots: int = 16, queue: int = 64) -> None:
        self.target = generator.target
        self.drafters = generator.drafters
        self._generator = generator
        self._queue = queue
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._thread.start()

    @property
    def modes(self) -> tuple[str, ...]:
        """What Speculation.mode may be here."""
        return ("auto", "off", *(drafter.name for drafter in self.drafters))

    @property
    def load(self) -> Load:
        return Load(int(self._running is not None), len(self._waiting), 0)

    def plain_s(self, sequences: int) -> float:
        """Seconds of a plain pass over so many sequences."""
        return self._generator.calibrate().verify(sequences)

    def curve(self, most: int) -> list[float]:
        """v(1) … v(most): what passes over so many rows cost, in plain passes."""
        return self._generator.calibrate().curve(most)

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
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        job = Job(ids, request, speculation or Speculation(), listener, owner, deadline)
        if job.speculation.mode not in self.modes:
            raise ForedraftError(
                f"speculation.mode is {job.speculation.mode!r}; choose one of "
                f"{', '.join(self.modes)}."
            )
        self._generator._check(list(ids), request)
        with self._changed:
            if self._closing:
                raise Closing("The server is shutting down; send the request to another.")
            if len(self._waiting) >= self._queue:
                raise Busy(len(self._waiting), 1.0)
            self._waiting.append(job)
            self._changed.notify()
        return job

    def close(self, grace_s: float = 0.0) -> None:
        """Take no more requests, let those that run finish within `grace_s`, cancel the rest."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(grace_s)
        for job in (self._running, *self._waiting):
            if job is not None:
                job.cancel()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                if not self._waiting:
                    return
                self._running = job = self._waiting.popleft()
            self._serve(job)
            self._running = None

    def _serve(self, job: Job) -> None:
        rounds: list[Round] = []
        tokens: list[Token] = []

        def tell() -> None:
            if tokens:
                done = rounds.pop(0)
                job.listener(Step(tuple(tokens), done, Share(1, 1 + len(done.draft))))
                tokens.clear()

        try:
            stream = self._generator.stream(job.ids, job.request, watch=rounds.append)
            job.result = stream.result
            job.queue_s = time.monotonic() - job.submitted
            for token in stream:
                if len(rounds) > 1:
                    tell()
                tokens.append(token)
                late = job.deadline is not None and time.monotonic() > job.deadline
                if job.cancelled or late:
                    stream.close()
                    job.listener(Step(finish_reason="timeout" if late else "cancelled"))
                    return
                job.first_token_s = job.first_token_s or time.monotonic() - job.submitted
            tell()
            job.listener(Step(finish_reason=job.result.finish_reason))
        except ForedraftError as error:
            job.listener(Step(finish_reason="error", error=str(error)))
