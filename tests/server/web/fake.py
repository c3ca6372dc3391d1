"""A server that answers as foredraft's does, from a recording; words in the prompt make it fail."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from foredraft.server.page import mount
from tests.server.web.recording import PLAIN_S, TEXTS, WHY, rounds, usage

ROUND_S = 0.012
CURVE = [1 + 0.08 * n for n in range(16)]
STATUS: dict[str, Any] = {
    "model": "tides-1b",
    "engine": "llama.cpp",
    "drafters": ["suffix", "ngram", "model"],
    "context": 2048,
    "running": 0,
    "waiting": 0,
    "cached_tokens": 0,
    "uptime_s": 12.0,
    "recent": {
        "requests": 3,
        "generated_tokens": 120,
        "acceptance_rate": 0.62,
        "tokens_per_target_pass": 1.8,
        "speedup": 1.41,
        "tokens_per_s": 70.5,
    },
    "last": {"why": WHY, "drafter": "suffix", "drafted": 4, "options": []},
    "verify_curve": CURVE,
    "plain_step_s": PLAIN_S,
    "cost_ratio": {"suffix": 0.0, "model": 0.3},
}


class Whole(StreamingResponse):
    """A stream that may break off: what goes wrong on purpose is not worth a traceback."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except ConnectionAbortedError:
            await asyncio.sleep(0.01)


def fake() -> FastAPI:
    """`app.state.key` is the key it asks for; `bodies` and `replays` are what it was asked."""
    app = FastAPI()
    app.state.key, app.state.bodies, app.state.replays = None, [], []
    mount(app)

    @app.middleware("http")
    async def guard(request: Request, call_next: Any) -> Response:
        key = request.app.state.key
        open_to_all = request.url.path == "/" or request.url.path.startswith("/assets")
        if key and not open_to_all and request.headers.get("authorization") != f"Bearer {key}":
            return _error(401, "A key is needed.")
        response: Response = await call_next(request)
        return response

    @app.get("/foredraft/status")
    def status() -> dict[str, Any]:
        return STATUS

    @app.post("/foredraft/replay")
    async def replay(request: Request) -> dict[str, Any]:
        body = await request.json()
        app.state.replays.append(body)
        passes, left = [], len(body["tokens"])
        while left > 0:
            kept = min(body["draft_len"] if len(passes) % 2 else 0, left - 1)
            passes.append({"drafted": body["draft_len"] if kept else 0, "kept": kept})
            left -= kept + 1
        return {"passes": passes, "target_passes": len(passes), "speedup": 1.23}

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        body = await request.json()
        app.state.bodies.append(body)
        prompt = body["messages"][-1]["content"]
        if "busy" in prompt:
            return _error(429, "64 requests are waiting already.", {"Retry-After": "3"})
        if "refuse" in prompt:
            return _error(400, "max_tokens is 9; it must be 10 or more.")
        return Whole(_stream(app, body, prompt), media_type="text/event-stream")

    return app


async def _stream(app: FastAPI, body: dict[str, Any], prompt: str) -> AsyncIterator[str]:
    speculates = body["speculation"]["mode"] != "off"
    texts = list(TEXTS)
    if "differ" in prompt and speculates:
        texts[12] = " forever"
    if "short" in prompt and speculates:
        texts = [*texts[:12], ""]
    made = rounds(speculates, texts)
    if "tree" in prompt:
        made[5]["round"]["drafted"].append({"id": 950, "text": " other", "parent": -1})
        made[5]["round"]["ignored"] += 1
    if "crowd" in prompt:
        made[5]["round"]["sequences"] = 2
    pause = 0.2 if "slow" in prompt else ROUND_S
    for number, step in enumerate(made):
        await asyncio.sleep(pause)
        if "drop" in prompt and number == 5 and not getattr(app.state, "mended", False):
            app.state.mended = True
            raise ConnectionAbortedError
        text = "".join(token["text"] for token in step["tokens"])
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        yield _event({"choices": [choice | {"speculation": step}]})
    yield _event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield _event({"choices": [], "usage": usage(made, body["speculation"]["mode"], body["seed"])})
    yield "data: [DONE]\n\n"


def _event(chunk: dict[str, Any]) -> str:
    return f"data: {json.dumps(chunk)}\n\n"


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    body = {"error": {"message": message, "type": "", "param": None, "code": None}}
    return JSONResponse(body, status, headers)
