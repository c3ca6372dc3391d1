"""The form an answer is asked to have: a JSON schema, any JSON object, a grammar, a call."""

import asyncio
import threading
from collections import OrderedDict
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.grammar.grammar import Grammar
from foredraft.grammar.trial import try_compile
from foredraft.grammar.vocabulary import Constraint, Vocabulary
from foredraft.server import tools
from foredraft.server.errors import Refusal
from foredraft.server.schema import ChatBody, GenerationBody, ResponseFormat
from foredraft.targets.base import Target, TextCodec

_COMPILE_S = 2.0
_AT_ONCE = 2
"""Grammars that are compiled at a time, so that they leave the target its cores."""
_KEPT = 64


async def constraint_of(body: GenerationBody, structures: "Structures") -> Constraint | None:
    """What keeps p to the form that is asked for; Refusal for one that cannot be kept."""
    field = _field(body)
    if field is None:
        return None
    try:
        return await structures.compile(_grammar(body, field, structures.target.tokenizer))
    except ForedraftError as error:
        raise Refusal(400, str(error), param=field) from error


def _field(body: GenerationBody) -> str | None:
    """The field that says what the answer is."""
    form = body.response_format
    formed = form is not None and form.type != "text"
    calls = isinstance(body, ChatBody) and bool(tools.offered(body))
    if body.grammar is not None:
        if formed or calls:
            said = "grammar says what the whole answer is; leave response_format and tools out."
            raise Refusal(400, said, param="grammar")
        return "grammar"
    if isinstance(body, ChatBody) and calls and (formed or tools.must_call(body)):
        return "tools"
    return "response_format" if formed else None


def _grammar(body: GenerationBody, field: str, codec: TextCodec) -> Grammar:
    if field == "grammar":
        return Grammar.lark(body.grammar or "")
    answer = _schema(body.response_format)
    if field == "tools" and isinstance(body, ChatBody):
        return tools.grammar(body, codec, None if tools.must_call(body) else answer)
    return Grammar.schema(answer)


def _schema(form: ResponseFormat | None) -> dict[str, Any]:
    if form is None or form.type == "json_object":
        return {"type": "object"}
    if form.json_schema is None:
        raise Refusal(400, "json_schema is missing.", param="response_format.json_schema")
    return form.json_schema.schema_ or {"type": "object"}


class Structures:
    """The grammars of one target, compiled; those last used are kept."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._vocabulary: Vocabulary | None = None
        self._known: OrderedDict[Grammar, Constraint] = OrderedDict()
        self._lock = threading.Lock()
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def compile(self, grammar: Grammar) -> Constraint:
        """The grammar for the target's tokens; ForedraftError if it cannot be had in time."""
        if grammar not in self._known:
            async with self._places:
                if grammar not in self._known:  # another request had it compiled meanwhile
                    self._known[grammar] = await asyncio.to_thread(self._compile, grammar)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(grammar)
        return self._known[grammar]

    def _compile(self, grammar: Grammar) -> Constraint:
        try_compile(grammar, _COMPILE_S)
        with self._lock:
            if self._vocabulary is None:
                self._vocabulary = Vocabulary(self.target)
        return self._vocabulary.compile(grammar)
