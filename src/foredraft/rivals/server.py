"""An OpenAI-compatible server, asked for one answer at a time."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foredraft.core.errors import ForedraftError

_PATIENCE_S = 600


@dataclass(frozen=True, slots=True)
class Answer:
    """A text, how many tokens the server counted in it, and whether the model itself ended it."""

    text: str
    tokens: int
    ended: bool


class Server:
    """Chat completions of the first model that a server names; it must be running already."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/").removesuffix("/v1")
        try:
            self._model = str(self._send("/v1/models", None)["data"][0]["id"])
        except (KeyError, IndexError, TypeError) as error:
            raise ForedraftError(f"{self.url} names no model; load one there first.") from error

    def ask(
        self, messages: Sequence[dict[str, str]], tokens: int, temperature: float, seed: int
    ) -> Answer:
        """At most `tokens` tokens, shaped by the temperature alone.

        ForedraftError if the server cannot be reached or does not answer as one should.
        """
        body = {
            "model": self._model,
            "messages": list(messages),
            "max_tokens": tokens,
            "temperature": temperature,
            "seed": seed,
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
        }
        answer = self._send("/v1/chat/completions", body)
        try:
            choice = answer["choices"][0]
            text, counted = choice["message"]["content"] or "", answer["usage"]["completion_tokens"]
            return Answer(str(text), int(counted), choice["finish_reason"] == "stop")
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ForedraftError(
                f"{self.url} does not answer as an OpenAI-compatible server ({error!r} is wrong or "
                "missing); check the URL."
            ) from error

    def _send(self, path: str, body: dict[str, Any] | None) -> Any:
        # Slow to import, which --help need not pay.
        import urllib.request
        from http.client import HTTPException

        try:
            request = urllib.request.Request(
                self.url + path,
                None if body is None else json.dumps(body).encode(),
                {"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
                return json.load(answer)
        except (OSError, ValueError, HTTPException) as error:
            raise ForedraftError(
                f"{self.url}{path} gives no answer ({error}); start the server or check the URL."
            ) from error
