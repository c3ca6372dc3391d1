"""POST /v1/completions: a text's continuation."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response

from foredraft.engine.job import Job
from foredraft.server.answer import answer
from foredraft.server.body import body
from foredraft.server.errors import Refusal
from foredraft.server.exchange import Heard
from foredraft.server.logprobs import completion_logprobs
from foredraft.server.openapi import answers, takes
from foredraft.server.replies import CompletionAnswer
from foredraft.server.schema import CompletionBody
from foredraft.server.service import Serving
from foredraft.server.style import FINISHED
from foredraft.server.translate import check_prompt
from foredraft.targets.base import TextCodec

MOST_CHOICES = 16

router = APIRouter()


@router.post(
    "/v1/completions", openapi_extra=takes(CompletionBody), responses=answers(CompletionAnswer)
)
async def completions(
    http: Request, asked: Annotated[CompletionBody, body(CompletionBody)], service: Serving
) -> Response:
    """Continue a text or several; whole, or as server-sent events with `stream`."""
    service.check_model(asked.model)
    target = service.scheduler.target
    prompts = await asyncio.to_thread(prompts_of, asked, target.tokenizer)
    if len(prompts) * (asked.n or 1) > MOST_CHOICES:
        raise Refusal(400, f"prompts times n is more than {MOST_CHOICES}.", param="n")
    for ids in prompts:
        check_prompt(ids, target, "prompt")
    style = CompletionStyle(asked, target.tokenizer, len(prompts))
    return await answer(http, asked, prompts, service, style)


def prompts_of(asked: CompletionBody, codec: TextCodec) -> list[list[int]]:
    """Each prompt's tokens: a text, ids, or a list of either."""
    given: Any = asked.prompt
    several = isinstance(given, list) and not isinstance(given[0], int)
    prompts = given if several else [given]
    return [codec.encode(one) if isinstance(one, str) else list(one) for one in prompts]


class CompletionStyle:
    """Text, or the pieces of it."""

    prefix = "cmpl"
    whole = "text_completion"
    chunk = "text_completion"

    def __init__(self, asked: CompletionBody, codec: TextCodec, prompts: int) -> None:
        self._asked = asked
        self._codec = codec
        self._written = [0] * (prompts * (asked.n or 1))

    def opening(self, index: int) -> dict[str, Any] | None:
        return None

    def piece(self, heard: Heard) -> dict[str, Any] | None:
        text = "".join(token.text for token in heard.tokens)
        wanted = self._asked.logprobs is not None or self._asked.drafting.details
        if not text and not (wanted and heard.tokens):
            return None
        logprobs = None
        if self._asked.logprobs is not None:
            offset = self._written[heard.index]
            logprobs = completion_logprobs(heard.tokens, self._codec, offset)
        self._written[heard.index] += len(text)
        return _choice(heard.index, text, logprobs, None)

    def closing(self, heard: Heard) -> dict[str, Any]:
        return _choice(heard.index, "", None, FINISHED[str(heard.finish_reason)])

    def choice(self, index: int, job: Job) -> dict[str, Any]:
        done, logprobs = job.result, None
        if self._asked.logprobs is not None:
            logprobs = completion_logprobs(done.tokens, self._codec, 0)
        return _choice(index, done.text, logprobs, FINISHED[str(done.finish_reason)])


def _choice(
    index: int, text: str, logprobs: dict[str, Any] | None, reason: str | None
) -> dict[str, Any]:
    return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": reason}
