"""Tools: what the template is told of them, and the grammar of an answer that must call one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foredraft.grammar.grammar import Grammar
from foredraft.server.errors import Refusal
from foredraft.server.schema import ChatBody, Function, Message, NamedTool, text_of
from foredraft.targets.base import TextCodec


@dataclass(frozen=True, slots=True)
class Form:
    """How a family of models words a call: `begin`, {"name": …, `arguments`: {…}}, `end`."""

    begin: str
    end: str
    arguments: str


HERMES = Form("<tool_call>\n", "\n</tool_call>", "arguments")
"""Hermes, Qwen 2.5, Qwen 3 and those who learned from them; several calls follow each other."""
LLAMA = Form("", "", "parameters")
"""Llama 3.1 and later: the call is the whole answer."""


def form_of(codec: TextCodec) -> Form:
    """The form that a model's chat template teaches; Refusal if it teaches none known here."""
    template = codec.template
    if "tools" in template:
        if "<tool_call>" in template and "<function=" not in template:
            return HERMES
        if '"parameters"' in template and "python" in template:
            return LLAMA
    raise Refusal(
        400,
        "This model's chat template knows no tools, or words calls in a way that is not understood "
        "here; use a model that learned to call them, as Qwen 2.5 did.",
        param="tools",
    )


def offered(body: ChatBody) -> list[Function]:
    """The functions that the model may call."""
    given = [tool.function for tool in body.tools or ()]
    if not given:
        if must_call(body):
            raise Refusal(400, "tool_choice needs tools; give at least one.", param="tool_choice")
        return []
    if body.tool_choice == "none":
        return []
    if isinstance(body.tool_choice, NamedTool):
        name = body.tool_choice.function.name
        if name not in (function.name for function in given):
            raise Refusal(400, f"tools have no function {name!r}.", param="tool_choice")
    return given


def must_call(body: ChatBody) -> bool:
    """Whether the answer has to be a call."""
    return body.tool_choice == "required" or isinstance(body.tool_choice, NamedTool)


def grammar(body: ChatBody, codec: TextCodec, answer: Mapping[str, Any] | None) -> Grammar:
    """Answers that call an offered function (or the one that is named), or `answer`, a schema."""
    form, functions = form_of(codec), offered(body)
    if isinstance(body.tool_choice, NamedTool):
        functions = [f for f in functions if f.name == body.tool_choice.function.name]
    calls, rules = [], []
    for number, function in enumerate(functions):
        head = f'"{function.name}", "{form.arguments}": '
        calls.append(f"{json.dumps(head)} arguments_{number}")
        schema = Grammar.spaced(function.parameters or {"type": "object"})
        rules.append(f"arguments_{number}: %json {json.dumps(schema)}")
    begin, end = json.dumps(form.begin + '{"name": '), json.dumps("}" + form.end)
    rules.append(f"call: {begin} ({' | '.join(calls)}) {end}")
    one = body.parallel_tool_calls is False or isinstance(body.tool_choice, NamedTool)
    start = "call" if one or not form.begin else 'call ("\\n" call)*'
    if answer is not None:
        if not form.begin:
            said = "This model's calls are JSON, as the answer would be; leave one of the two out."
            raise Refusal(400, said, param="response_format")
        start += " | answer"
        rules.append(f"answer: %json {json.dumps(Grammar.spaced(answer))}")
    return Grammar.lark("\n".join((f"start: {start}", *rules)))


def options(body: ChatBody, codec: TextCodec) -> dict[str, Any]:
    """What the chat template is told beside the messages."""
    if not offered(body):
        return {}
    form_of(codec)
    return {"tools": [tool.model_dump(exclude_none=True) for tool in body.tools or ()]}


def turn(message: Message) -> dict[str, Any]:
    """A message as templates take it: its text joined, the arguments of calls as objects."""
    known = message.model_dump(exclude_none=True, exclude={"annotations"})
    for call in known.get("tool_calls", ()):
        call["function"]["arguments"] = _parsed(call["function"]["arguments"])
    return {**known, "content": text_of(message.content)}


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):  # a model wrote it, and nobody promised that it is JSON
        return arguments
