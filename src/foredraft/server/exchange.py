"""The jobs of one HTTP request, and what they say, in the order in which they say it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from foredraft.engine.job import Job, Speculation, Step
from foredraft.engine.request import Request
from foredraft.engine.result import Token
from foredraft.server.details import facts
from foredraft.server.errors import Refusal
from foredraft.server.service import Service

_FAILED = {
    "error": (500, None),
    "timeout": (504, "timeout"),
    "cancelled": (503, "shutting_down"),
}


@dataclass(frozen=True, slots=True)
class Heard:
    """A step of choice `index`, without the logits that a Step's round holds on to.

    A client that reads slowly may leave thousands of these waiting.
    """

    index: int
    tokens: tuple[Token, ...]
    round: dict[str, Any] | None
    finish_reason: str | None


class Exchange:
    """Submits jobs and hears them in the event loop, however slowly its client reads.

    Ending the iteration, or closing it early, cancels what has not ended.
    """

    def __init__(self, service: Service, owner: str, details: bool) -> None:
        self.jobs: list[Job] = []
        self._service = service
        self._owner = owner
        self._details = details
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Heard | Refusal] = asyncio.Queue()

    def submit(self, ids: list[int], request: Request, speculation: Speculation) -> None:
        """One more choice. Raises what Scheduler.submit does."""
        index = len(self.jobs)

        def listener(step: Step) -> None:
            with suppress(RuntimeError):  # the loop has ended, and nobody is left to hear
                self._loop.call_soon_threadsafe(self._hear, index, step)

        job = self._service.scheduler.submit(
            ids,
            request,
            listener,
            speculation=speculation,
            owner=self._owner,
            timeout_s=self._service.settings.timeout_s,
        )
        self.jobs.append(job)
        for watcher in self._service.watchers:
            watcher.began(job)

    def cancel(self) -> None:
        """Stop what has not ended."""
        for job in self.jobs:
            job.cancel()

    async def __aiter__(self) -> AsyncIterator[Heard]:
        """Every step until all jobs have ended. Raises Refusal where one fails."""
        left = len(self.jobs)
        try:
            while left:
                heard = await self._queue.get()
                if isinstance(heard, Refusal):
                    raise heard
                left -= heard.finish_reason is not None
                yield heard
        finally:
            self.cancel()

    def _hear(self, index: int, step: Step) -> None:
        for watcher in self._service.watchers:
            watcher.stepped(self.jobs[index], step)
        if step.finish_reason in _FAILED:
            self._queue.put_nowait(self._failure(step))
            return
        made = None
        if self._details and step.round is not None:
            made = facts(step, self._service.scheduler.target.tokenizer)
        self._queue.put_nowait(Heard(index, step.tokens, made, step.finish_reason))

    def _failure(self, step: Step) -> Refusal:
        status, code = _FAILED[str(step.finish_reason)]
        messages = {
            "timeout": f"The answer took longer than {self._service.settings.timeout_s} s; ask "
            "for fewer tokens, or start the server with a longer --timeout.",
            "cancelled": "The server is shutting down; send the request to another.",
        }
        said = step.error or messages.get(str(step.finish_reason), "The answer failed.")
        return Refusal(400 if step.mendable else status, said, code=code)
