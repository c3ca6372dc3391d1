"""What a request wants of its answer's form: a grammar that p keeps to, and calls of tools."""

from typing import Any, Protocol

from foredraft.core.sampling import Processor
from foredraft.server.errors import Refusal
from foredraft.server.schema import ChatBody, GenerationBody
from foredraft.targets.base import Target


class Reader(Protocol):
    """Makes a message of an answer's text: deltas as it comes, or all of it.

    `called` says, at the end, whether the model called a tool.
    """

    called: bool

    def push(self, text: str) -> dict[str, Any]:
        """The delta for more text; empty for none."""

    def finish(self) -> dict[str, Any]:
        """The delta for what was held back."""

    def message(self, text: str) -> dict[str, Any]:
        """The fields of the whole answer's message."""


class Plain:
    """Text is content, and nothing else."""

    called = False

    def push(self, text: str) -> dict[str, Any]:
        return {"content": text} if text else {}

    def finish(self) -> dict[str, Any]:
        return {}

    def message(self, text: str) -> dict[str, Any]:
        return {"content": text}


def processors(body: GenerationBody, target: Target) -> tuple[Processor, ...]:
    """What keeps p to the form that is asked for; Refusal for one that cannot be kept."""
    if body.grammar is not None:
        raise Refusal(400, "grammar is not supported yet; leave it out.", param="grammar")
    if body.response_format not in (None, {"type": "text"}):
        raise Refusal(
            400, "response_format is not supported yet; leave it out.", param="response_format"
        )
    return ()


def reader(body: ChatBody, target: Target) -> Reader:
    """What reads one choice's text; Refusal for tools that cannot be called."""
    for name in ("tools", "tool_choice"):
        if getattr(body, name) not in (None, [], "none"):
            raise Refusal(400, f"{name} is not supported yet; leave it out.", param=name)
    return Plain()
