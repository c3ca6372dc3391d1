"""Tools: offered, called, answered; asked with OpenAI's own client."""

import json

import openai
import pytest

from foredraft.drafters.ngram import NgramDrafter
from foredraft.server.calls import Calls
from foredraft.server.tools import HERMES, LLAMA
from tests.cli.parrot import ANSWER, Bytes, Parrot, Steady
from tests.server.serving import ASK, serving

CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Now, somewhere.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"$ref": "#/$defs/city"}},
                "required": ["city"],
                "additionalProperties": False,
                "$defs": {"city": {"enum": ["Oslo", "Rome"]}},
            },
        },
    },
    {"type": "function", "function": {"name": "time"}},
]


BAD_TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "strin"}}}]


class Hermes(Bytes):
    """A template that shows what it was told."""

    template = "{% if tools %}<tool_call>"

    def chat(self, messages, **options):
        return [*json.dumps([messages, options], ensure_ascii=False).encode(), ANSWER]


def served(says):
    target = Parrot(says, context=4096)
    target.tokenizer = Hermes()
    return serving(Steady(target, NgramDrafter()))


def client_of(server):
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)


@pytest.fixture(scope="module")
def caller():
    with served(f"Let me look.\n{CALL}\n{CALL}") as server, client_of(server) as client:
        yield client


@pytest.fixture(scope="module")
def talker():
    """Wants to say something else."""
    with served("I would rather talk.") as server, client_of(server) as client:
        yield client


def ask(client, **more):
    given = {"messages": ASK, "tools": TOOLS, "temperature": 0, "max_tokens": 300} | more
    return client.chat.completions.create(model="parrot", **given)


def test_calls_in_an_answer(caller):
    (choice,) = ask(caller).choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "Let me look."
    first, second = choice.message.tool_calls
    assert first.id != second.id
    assert first.function.name == "weather"
    assert json.loads(first.function.arguments) == {"city": "Oslo"}


def test_calls_in_a_stream(caller):
    chunks = [chunk.choices[0] for chunk in ask(caller, stream=True)]
    text = "".join(chunk.delta.content or "" for chunk in chunks)
    assert text.strip() == "Let me look."
    calls = [call for chunk in chunks for call in chunk.delta.tool_calls or ()]
    assert [call.index for call in calls] == [0, 1]
    assert [json.loads(call.function.arguments)["city"] for call in calls] == ["Oslo", "Oslo"]
    assert chunks[-1].finish_reason == "tool_calls"


def test_none_offers_nothing(caller):
    (choice,) = ask(caller, tool_choice="none").choices
    assert CALL in choice.message.content
    assert choice.finish_reason == "stop"


def test_an_answer_without_calls(talker):
    (choice,) = ask(talker).choices
    assert (choice.message.content, choice.finish_reason) == ("I would rather talk.", "stop")
    assert choice.message.tool_calls is None


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_is_required(talker, stream):
    """By name: what the model wants to say is barred, and the arguments are the schema's."""
    named = {"type": "function", "function": {"name": "weather"}}
    done = ask(talker, tool_choice=named, stream=stream)
    if stream:
        calls = [call for chunk in done for call in chunk.choices[0].delta.tool_calls or ()]
    else:
        assert done.choices[0].finish_reason == "tool_calls"
        assert done.choices[0].message.content is None
        calls = done.choices[0].message.tool_calls
    (call,) = calls
    assert call.function.name == "weather"
    assert json.loads(call.function.arguments)["city"] in ("Oslo", "Rome")


def test_required_is_one_of_them(talker):
    tools = TOOLS[:1]
    done = ask(talker, tools=tools, tool_choice="required", parallel_tool_calls=False)
    (call,) = done.choices[0].message.tool_calls
    assert call.function.name == "weather"


def test_a_schema_beside_tools_is_for_the_answer_that_calls_none(talker):
    form, seen = {"type": "json_object"}, []
    for says in ('{"said": 1}', CALL):
        with served(says) as server, client_of(server) as client:
            seen += ask(client, response_format=form).choices
    assert [choice.message.content for choice in seen] == ['{"said": 1}', None]
    assert [choice.finish_reason for choice in seen] == ["stop", "tool_calls"]
    done = ask(talker, response_format=form, tools=TOOLS[:1], tool_choice="required")
    assert done.choices[0].message.tool_calls


def test_what_the_template_is_told(talker):
    """Arguments of earlier calls as objects, and the tools as they were given."""
    called = {"id": "c1", "type": "function", "function": {"name": "time", "arguments": '{"a": 1}'}}
    turns = [
        *ASK,
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
    ]
    told = []
    seen = Hermes.chat
    try:
        Hermes.chat = lambda self, messages, **options: (
            told.append((messages, options)) or seen(self, messages, **options)
        )
        ask(talker, messages=turns)
    finally:
        Hermes.chat = seen
    messages, options = told[0]
    assert messages[1]["tool_calls"][0]["function"] == {"name": "time", "arguments": {"a": 1}}
    assert messages[1]["content"] == ""
    assert messages[2] == {"role": "tool", "tool_call_id": "c1", "content": "noon"}
    assert options == {"tools": TOOLS}


@pytest.mark.parametrize(
    ("more", "param", "said"),
    [
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0]", "pattern"),
        ({"tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice", "'x'"),
        ({"tools": [], "tool_choice": "required"}, "tool_choice", "at least one"),
        ({"tool_choice": "sometimes"}, "tool_choice", "required"),
        ({"extra_body": {"grammar": 'start: "a"'}}, "grammar", "whole answer"),
        ({"tool_choice": "required", "tools": BAD_TOOLS}, "tools", "strin"),
    ],
)
def test_what_is_refused(talker, more, param, said):
    with pytest.raises(openai.BadRequestError) as caught:
        ask(talker, **more)
    assert caught.value.param.startswith(param)
    assert said in caught.value.message


def test_a_model_that_knows_no_tools(served):
    with client_of(served) as client, pytest.raises(openai.BadRequestError) as caught:
        ask(client)
    assert caught.value.param == "tools"


def read(form, text, size):
    """The message, from pieces of `size` characters, and as a whole."""
    reader = Calls(form, frozenset({"f", "g"}))
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    deltas = [*(reader.push(piece) for piece in pieces), reader.finish()]
    content = "".join(delta.get("content", "") for delta in deltas)
    calls = [call["function"] for delta in deltas for call in delta.get("tool_calls", ())]
    whole = Calls(form, frozenset({"f", "g"}))
    message = whole.message(text)
    assert [call["function"] for call in message.get("tool_calls", ())] == calls
    assert whole.called == reader.called == bool(calls)
    assert (message["content"] or "") == (content.strip() if calls else content)
    return content, [(call["name"], json.loads(call["arguments"])) for call in calls]


F = '<tool_call>\n{"name": "f", "arguments": {"x": "}</tool_call"}}\n</tool_call>'
LONE = '{"name": "f", "arguments": {"x": "\\ud800"}}'
DEEP = '{"name": "f", "arguments": ' + "[" * 5000
BAD = '<tool_call>\n{"name": "f", "arguments": {\n</tool_call>'


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        ("plain <b>text</b> \n", "plain <b>text</b> \n", []),
        (F, "", [("f", {"x": "}</tool_call"})]),
        (f"so:\n{F}\n{F}", "so:", [("f", {"x": "}</tool_call"})] * 2),
        (f"{F} and then", " and then", [("f", {"x": "}</tool_call"})]),
        (F[: -len("\n</tool_call>")], "", [("f", {"x": "}</tool_call"})]),
        ("a <tool_cal", "a <tool_cal", []),
        (BAD, BAD, []),
        (F.replace('"f"', '"other"'), F.replace('"f"', '"other"'), []),
        ('{"name": "f", "arguments": {"a": 1}}', "", [("f", {"a": 1})]),
        ('```json\n{\n  "name": "g",\n  "arguments": {}\n}\n```', "", [("g", {})]),
        ('{"name": "other", "arguments": {}}', '{"name": "other", "arguments": {}}', []),
        ('{"name": "f", "arguments": {}} it is', '{"name": "f", "arguments": {}} it is', []),
        ('```json\n{"a": 1}\n```', '```json\n{"a": 1}\n```', []),
        ("```python\nx\n```", "```python\nx\n```", []),
        ("", "", []),
        ('{"name": ["f"], "arguments": {}}', '{"name": ["f"], "arguments": {}}', []),
        ('{"name": "f", "arguments": {"x": NaN}}', '{"name": "f", "arguments": {"x": NaN}}', []),
        (LONE, LONE, []),
        (DEEP, DEEP, []),
        ("<tool_call>\n[1]\n</tool_call>", "<tool_call>\n[1]\n</tool_call>", []),
    ],
)
def test_reading_calls(text, content, calls, size):
    assert read(HERMES, text, size) == (content, calls)


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        ('{"name": "g", "parameters": {"a": [1]}}', "", [("g", {"a": [1]})]),
        ("no { call", "no { call", []),
        ('{"name": "g"}', '{"name": "g"}', []),
    ],
)
def test_reading_a_call_that_is_the_whole_answer(text, content, calls, size):
    assert read(LLAMA, text, size) == (content, calls)
