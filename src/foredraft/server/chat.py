"""POST /v1/chat/completions: a conversation's next message."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response

from foredraft.core.errors import ForedraftError
from foredraft.engine.job import Job
from foredraft.server import tools
from foredraft.server.answer import answer
from foredraft.server.body import body
from foredraft.server.calls import Calls, Plain, Reader
from foredraft.server.errors import Refusal
from foredraft.server.exchange import Heard
from foredraft.server.logprobs import chat_logprobs
from foredraft.server.openapi import answers, takes
from foredraft.server.replies import ChatAnswer
from foredraft.server.schema import ChatBody, Message
from foredraft.server.service import Serving
from foredraft.server.style import FINISHED
from foredraft.server.translate import check_prompt
from foredraft.targets.base import Target

router = APIRouter()


@router.post("/v1/chat/completions", openapi_extra=takes(ChatBody), responses=answers(ChatAnswer))
async def chat_completions(
    http: Request, asked: Annotated[ChatBody, body(ChatBody)], service: Serving
) -> Response:
    """Answer a conversation; whole, or as server-sent events with `stream`."""
    service.check_model(asked.model)
    if asked.top_logprobs is not None and not asked.logprobs:
        raise Refusal(400, "top_logprobs needs logprobs to be true.", param="top_logprobs")
    target = service.scheduler.target
    style = ChatStyle(asked, target)
    told = tools.options(asked, target.tokenizer)
    ids = await asyncio.to_thread(template_ids, asked.messages, target, "messages", told)
    check_prompt(ids, target, "messages")
    return await answer(http, asked, [ids], service, style)


def template_ids(
    messages: Sequence[Message], target: Target, param: str, told: Mapping[str, Any]
) -> list[int]:
    """A conversation as the model's template words it, which is `told` what else there is.

    `param` is the field that the messages came in.
    """
    try:
        return target.tokenizer.chat([tools.turn(message) for message in messages], **told)
    except ForedraftError as error:
        raise Refusal(400, str(error), param=param) from error


def _reader(asked: ChatBody, target: Target) -> Reader:
    """What reads one choice's text."""
    names = frozenset(function.name for function in tools.offered(asked))
    return Calls(tools.form_of(target.tokenizer), names) if names else Plain()


class ChatStyle:
    """A message, or the deltas it is made of."""

    prefix = "chatcmpl"
    whole = "chat.completion"
    chunk = "chat.completion.chunk"

    def __init__(self, asked: ChatBody, target: Target) -> None:
        self._asked = asked
        self._codec = target.tokenizer
        self._readers = [_reader(asked, target) for _ in range(asked.n or 1)]

    def opening(self, index: int) -> dict[str, Any] | None:
        return _choice(index, {"role": "assistant", "content": ""})

    def piece(self, heard: Heard) -> dict[str, Any] | None:
        delta = self._readers[heard.index].push("".join(token.text for token in heard.tokens))
        wanted = self._asked.logprobs or self._asked.drafting.details
        if not delta and not (wanted and heard.tokens):
            return None
        logprobs = chat_logprobs(heard.tokens, self._codec) if self._asked.logprobs else None
        return _choice(heard.index, delta or {"content": ""}, logprobs)

    def closing(self, heard: Heard) -> dict[str, Any]:
        reader = self._readers[heard.index]
        delta = reader.finish()
        return _choice(heard.index, delta) | {"finish_reason": _reason(reader, heard.finish_reason)}

    def choice(self, index: int, job: Job) -> dict[str, Any]:
        reader, done = self._readers[index], job.result
        message = {"role": "assistant", "refusal": None, **reader.message(done.text)}
        return {
            "index": index,
            "message": message,
            "logprobs": chat_logprobs(done.tokens, self._codec) if self._asked.logprobs else None,
            "finish_reason": _reason(reader, done.finish_reason),
        }


def _choice(
    index: int, delta: dict[str, Any], logprobs: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": None}


def _reason(reader: Reader, reason: str | None) -> str:
    return "tool_calls" if reader.called else FINISHED[str(reason)]
