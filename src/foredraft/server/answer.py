"""Submits what a request asks for, and watches whether anybody still waits for the answer."""

import asyncio
import secrets
from collections.abc import Sequence

from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.background import BackgroundTask

from foredraft.grammar.vocabulary import Constraint
from foredraft.server.errors import Refusal
from foredraft.server.exchange import Exchange
from foredraft.server.guard import owner_of
from foredraft.server.reply import Reply
from foredraft.server.schema import GenerationBody
from foredraft.server.service import Service
from foredraft.server.structure import constraint_of
from foredraft.server.style import Style
from foredraft.server.translate import params_of, request_of, speculation_of

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
    constraint = await constraint_of(body, service.structures)
    exchange = _submitted(http, body, prompts, service, constraint)
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
    http: Request,
    body: GenerationBody,
    prompts: Sequence[list[int]],
    service: Service,
    constraint: Constraint | None,
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
                if constraint is not None:
                    request = request.constrained(constraint, len(ids))
                exchange.submit(ids, request, speculation)
    except Exception:
        exchange.cancel()
        raise
    return exchange


async def _gone(http: Request) -> None:
    while (await http.receive())["type"] != "http.disconnect":
        pass
