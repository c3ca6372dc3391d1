"""Submits what a request asks for, and sends the answer whole or as a stream of chunks."""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.background import BackgroundTask

from foredraft import __version__
from foredraft.server.details import shown
from foredraft.server.errors import Refusal, refusal_of
from foredraft.server.exchange import Exchange, Heard
from foredraft.server.guard import owner_of
from foredraft.server.schema import GenerationBody
from foredraft.server.service import Service
from foredraft.server.style import Style
from foredraft.server.translate import params_of, request_of, speculation_of
from foredraft.server.usage import usage

_LOG = logging.getLogger(__name__)
_EVENTS = "text/event-stream; charset=utf-8"
_STREAMED = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
"""The second tells proxies not to hold a stream back."""
_GONE = Response(status_code=499)
"""Nobody is there to read it."""


async def answer(
    http: Request,
    body: GenerationBody,
    prompts: Sequence[list[int]],
    service: Service,
    style: Style,
) -> Response:
    """The response to a generation request; a client that leaves stops it."""
    if body.stream_options is not None and not body.stream:
        raise Refusal(
            400, "stream_options are for streams only; set stream to true.", param="stream_options"
        )
    exchange = _submitted(http, body, prompts, service)
    reply = Reply(body, service, style, exchange, f"{style.prefix}-{secrets.token_hex(12)}")
    headers = {"X-Request-Id": reply.id}
    if body.stream:
        # A client may leave before the first event, which no generator would hear of.
        leave = BackgroundTask(exchange.cancel)
        return StreamingResponse(
            reply.events(), headers=headers | _STREAMED, media_type=_EVENTS, background=leave
        )
    work = asyncio.create_task(reply.whole())
    gone = asyncio.create_task(_gone(http))
    try:
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        return JSONResponse(work.result(), headers=headers) if work.done() else _GONE
    finally:
        gone.cancel()
        work.cancel()
        exchange.cancel()


def _submitted(
    http: Request, body: GenerationBody, prompts: Sequence[list[int]], service: Service
) -> Exchange:
    """All choices of all prompts, in the scheduler's hands; or none, where it refuses one."""
    target = service.scheduler.target
    params = params_of(body, target)
    speculation = speculation_of(body, service.scheduler.modes, target)
    seed = secrets.randbits(32) if body.seed is None else body.seed
    exchange = Exchange(service, owner_of(http), body.drafting.details)
    try:
        for ids in prompts:
            for choice in range(body.n or 1):
                request = request_of(body, params, len(ids), seed + choice, target)
                exchange.submit(ids, request, speculation)
    except Exception:
        exchange.cancel()
        raise
    return exchange


async def _gone(http: Request) -> None:
    while (await http.receive())["type"] != "http.disconnect":
        pass


@dataclass(slots=True)
class Reply:
    """One request's answer under its id."""

    body: GenerationBody
    service: Service
    style: Style
    exchange: Exchange
    id: str

    async def whole(self) -> dict[str, Any]:
        """The answer when all of it is there."""
        steps = [heard async for heard in self.exchange if heard.round is not None]
        jobs = self.exchange.jobs
        choices = [self.style.choice(index, job) for index, job in enumerate(jobs)]
        if self.body.drafting.details:
            for index, choice in enumerate(choices):
                rounds = [_speculation(heard) for heard in steps if heard.index == index]
                choice["speculation"] = {"rounds": rounds}
        self._log()
        return {**self._envelope(self.style.whole), "choices": choices, "usage": self._usage()}

    async def events(self) -> AsyncIterator[bytes]:
        """The answer as server-sent events; a failure on the way is the last of them."""
        options = self.body.stream_options
        with_usage = options is not None and bool(options.include_usage)
        # In such a stream every chunk has the field, as OpenAI's.
        none = {"usage": None} if with_usage else {}
        envelope = self._envelope(self.style.chunk)
        try:
            for index in range(len(self.exchange.jobs)):
                if (opening := self.style.opening(index)) is not None:
                    yield _event({**envelope, "choices": [opening], **none})
            async for heard in self.exchange:
                for choice in self._choices(heard):
                    yield _event({**envelope, "choices": [choice], **none})
            if with_usage:
                yield _event({**envelope, "choices": [], "usage": self._usage()})
            yield b"data: [DONE]\n\n"
            self._log()
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is not error:
                _LOG.exception("%s failed", self.id)
            yield _event(refusal.body)
        finally:
            self.exchange.cancel()

    def _choices(self, heard: Heard) -> list[dict[str, Any]]:
        """What a step adds to the stream: its text, and that the text has ended."""
        made = self.style.piece(heard)
        if made is not None and heard.round is not None:
            made["speculation"] = _speculation(heard)
        choices = [] if made is None else [made]
        return [*choices, self.style.closing(heard)] if heard.finish_reason else choices

    def _envelope(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": int(time.time()),
            "model": self.service.name,
            "system_fingerprint": f"foredraft-{__version__}",
        }

    def _usage(self) -> dict[str, Any]:
        return usage(self.exchange.jobs, self.body.n or 1)

    def _log(self) -> None:
        used = self._usage()
        done, kept = used["speculation"]["drafted"], used["speculation"]["accepted"]
        _LOG.info(
            "%s %d + %d tokens, %.1f/s, %d of %d drafted accepted",
            *(self.id, used["prompt_tokens"], used["completion_tokens"]),
            *(used["speculation"]["tokens_per_s"], kept, done),
        )
        if self.service.settings.log_prompts:
            codec = self.service.scheduler.target.tokenizer
            for job in self.exchange.jobs:
                _LOG.info("%s %r -> %r", self.id, codec.decode(job.ids), job.result.text)


def _speculation(heard: Heard) -> dict[str, Any]:
    return {"tokens": shown(heard.tokens), "round": heard.round}


def _event(data: dict[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"data: {text}\n\n".encode()
