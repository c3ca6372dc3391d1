"""A server that speaks OpenAI's HTTP interface: llama-server, vLLM, LM Studio, Ollama …"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from foredraft.core.errors import ForedraftError
from foredraft.rivals.answer import Answer, Explained, Reader, explained
from foredraft.rivals.http import check, client, parsed, plainly, reason_of, root, said, silent
from foredraft.rivals.prometheus import Totals, read_totals

if TYPE_CHECKING:
    import httpx2

CHAT = "/v1/chat/completions"
TOP = 20
"""How many of the likeliest tokens are asked for at each place: as many as OpenAI and vLLM give."""

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a server; `seed` matters above temperature 0 only."""

    messages: Messages
    tokens: int
    temperature: float = 0.0
    seed: int = 0

    def body(self) -> dict[str, Any]:
        """The fields that every such server knows."""
        body = {
            "messages": list(self.messages),
            "max_tokens": self.tokens,
            "temperature": self.temperature,
        }
        return body | {"seed": self.seed} if self.temperature else body


@dataclass(frozen=True, slots=True)
class Server:
    """A server and what goes into each request to it besides the question.

    Every method raises ForedraftError, in one sentence, for a server that is dead, slow or wrong.
    """

    url: str
    model: str | None
    extra: Mapping[str, Any]
    timeout: float
    http: "httpx2.Client"

    @classmethod
    def at(cls, url: str, timeout: float, api_key: str | None = None) -> "Server":
        """The server at `url`, of which nothing is asked yet; close it in the end."""
        url = root(url)
        return cls(url, None, {}, timeout, client(url, api_key, timeout))

    def serving(self, model: str | None) -> "Server":
        """The same with `model`'s name in its requests, or the only name that it serves."""
        return replace(self, model=model or self._only_model())

    def also(self, extra: Mapping[str, Any]) -> "Server":
        """The same with `extra` in its requests too; a field that is None there is left out."""
        merged = {k: v for k, v in {**self.extra, **extra}.items() if v is not None}
        return replace(self, extra=merged)

    def ask(self, question: Question) -> Answer:
        """The answer, streamed and timed."""
        body = self._body(question) | {"stream": True, "stream_options": {"include_usage": True}}
        with plainly(self.url, self.timeout):
            reader = Reader(time.perf_counter())
            self._read(body, reader)
        return reader.answer()

    def explain(self, question: Question, patience: float) -> Explained | None:
        """The answer token by token; None from a server that does not tell its log-probabilities.

        Not streamed, as llama-server's stream leaves out tokens that are a part of a character; so
        it may take `patience` seconds longer.
        """
        body = self._body(question) | {"logprobs": True, "top_logprobs": TOP}
        with plainly(self.url, self.timeout):
            response = self.http.post(CHAT, json=body, timeout=self.timeout + patience)
            if response.status_code in (400, 422, 501):  # servers refuse what they cannot do
                return None
            check(response, self.url)
        return explained(parsed(response.text, self.url))

    def metrics(self) -> str | None:
        """The page at /metrics; None if the server has none."""
        with plainly(self.url, self.timeout):
            response = self.http.get("/metrics")
            if response.status_code in (401, 403):
                check(response, self.url)
        return response.text if response.is_success else None

    def totals(self) -> Totals | None:
        """The counters at /metrics; None if the server has none that are known."""
        page = self.metrics()
        return None if page is None else read_totals(page)

    def speculates(self) -> bool | None:
        """Whether a llama-server says that it speculates; None from any other."""
        with plainly(self.url, self.timeout):
            response = self.http.get("/slots")
        try:
            slots = response.json() if response.is_success else []
            return any(slot["speculative"] for slot in slots) if slots else None
        except (ValueError, KeyError, TypeError):
            return None

    def close(self) -> None:
        self.http.close()

    def _body(self, question: Question) -> dict[str, Any]:
        named = {"model": self.model} if self.model else {}
        return {**named, **question.body(), **self.extra}

    def _read(self, body: dict[str, Any], reader: Reader) -> None:
        """Feed `reader` until the stream ends, which only a finish reason makes a whole answer."""
        with self.http.sse(CHAT, method="POST", json=body) as source:
            check(source.response, self.url)
            self._check_stream(source.response)
            patient_until = time.monotonic() + self.timeout
            for event in source:
                pieces = reader.pieces
                if event.data.strip() == "[DONE]":
                    break
                if event.data:
                    reader.add(parsed(event.data, self.url), time.perf_counter())
                if reader.pieces > pieces:
                    patient_until = time.monotonic() + self.timeout
                elif time.monotonic() > patient_until:  # it sends, but nothing of the answer
                    raise silent(self.url, self.timeout)
        if reader.finish_reason is None:
            raise ForedraftError(
                f"{self.url} ended the stream after {reader.pieces} pieces, in the middle of an "
                "answer; see why in the server's log."
            )

    def _check_stream(self, response: "httpx2.Response") -> None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream":
            return
        response.read()
        if reason := reason_of(response.text):
            raise ForedraftError(f"{self.url} reports an error ({reason}); see the server's log.")
        raise ForedraftError(
            f"{self.url} answers with {said(kind) or 'nothing'} instead of a stream; is it an "
            "OpenAI-compatible server?"
        )

    def _only_model(self) -> str | None:
        """The one model that the server lists; None if it has no list."""
        with plainly(self.url, self.timeout):
            response = self.http.get("/v1/models")
            if response.status_code == 404:
                return None
            check(response, self.url)
        listed = parsed(response.text, self.url).get("data") or []
        names = [str(m["id"]) for m in listed if isinstance(m, dict) and "id" in m]
        if len(names) > 1:
            shown = ", ".join(map(said, names[:5])) + " …" * (len(names) > 5)
            raise ForedraftError(
                f"{self.url} serves {len(names)} models ({shown}); name one with --model."
            )
        return names[0] if names else None
