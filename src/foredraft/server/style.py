"""How an endpoint words its answers; chat.py and completions.py have one each."""

from typing import Any, Protocol

from foredraft.engine.job import Job
from foredraft.server.exchange import Heard

FINISHED = {"eos": "stop", "stop": "stop", "length": "length", "context": "length"}
"""Why a generation ended, in OpenAI's words."""


class Style(Protocol):
    """Makes the `choices` of one request's chunks and of its whole answer."""

    prefix: str
    whole: str
    chunk: str

    def opening(self, index: int) -> dict[str, Any] | None:
        """The choice that begins a stream."""

    def piece(self, heard: Heard) -> dict[str, Any] | None:
        """The choice of a step; None where it has nothing to show."""

    def closing(self, heard: Heard) -> dict[str, Any]:
        """The choice that says why the stream's text ended."""

    def choice(self, index: int, job: Job) -> dict[str, Any]:
        """The whole answer."""
