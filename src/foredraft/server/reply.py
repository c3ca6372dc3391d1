"""One request's answer: whole, or event by event."""

import json
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from foredraft import __version__
from foredraft.server.details import shown
from foredraft.server.errors import refusal_of
from foredraft.server.exchange import Exchange, Heard
from foredraft.server.schema import GenerationBody
from foredraft.server.service import Service
from foredraft.server.style import Style
from foredraft.server.usage import usage

_LOG = logging.getLogger(__name__)


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
            unforeseen = error if refusal is not error else None
            _LOG.info("%s %d in its stream", self.id, refusal.status, exc_info=unforeseen)
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
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"data: {text}\n\n".encode()
