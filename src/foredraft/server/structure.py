"""The form an answer is asked to have: a JSON schema, any JSON object, a grammar, a call."""

import asyncio
import threading
from collections import OrderedDict

from foredraft.core.errors import ForedraftError
from foredraft.grammar.grammar import Grammar
from foredraft.grammar.trial import try_compile
from foredraft.grammar.vocabulary import Constraint, Vocabulary
from foredraft.server import tools
from foredraft.server.errors import Refusal
from foredraft.server.schema import ChatBody, GenerationBody
from foredraft.targets.base import Target

_COMPILE_S = 2.0
_AT_ONCE = 2
"""Grammars that are compiled at a time, so that they leave the target its cores."""
_KEPT = 64


async def constraint_of(body: GenerationBody, structures: "Structures") -> Constraint | None:
    """What keeps p to the form that is asked for; Refusal for one that cannot be kept."""
    param, grammar = asked_form(body, structures.target)
    if grammar is None:
        return None
    try:
        return await structures.compile(grammar)
    except ForedraftError as error:
        raise Refusal(400, str(error), param=param) from error


def asked_form(body: GenerationBody, target: Target) -> tuple[str, Grammar | None]:
    """The grammar that a body asks for, and the field it does so in; one at most."""
    found = {
        "response_format": body.response_format and body.response_format.type != "text",
        "grammar": body.grammar is not None,
        "tool_choice": isinstance(body, ChatBody) and tools.must_call(body),
    }
    fields = [name for name, given in found.items() if given]
    if len(fields) > 1:
        said = " and ".join(fields)
        raise Refusal(400, f"{said} both say what the answer is; give one.", param=fields[-1])
    if not fields:
        return "", None
    try:
        return fields[0], _grammar(body, target)
    except ForedraftError as error:
        raise Refusal(400, str(error), param=fields[0]) from error


def _grammar(body: GenerationBody, target: Target) -> Grammar:
    if body.grammar is not None:
        return Grammar.lark(body.grammar)
    if isinstance(body, ChatBody) and tools.must_call(body):
        return tools.grammar(body, target.tokenizer)
    form = body.response_format
    assert form is not None
    if form.type == "json_object":
        return Grammar.json_object()
    if form.json_schema is None:
        raise Refusal(400, "json_schema is missing.", param="response_format.json_schema")
    return Grammar.schema(form.json_schema.schema_ or {"type": "object"})


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
