"""response_format and grammar, asked with OpenAI's own client; the answer keeps to them."""

import json
import time

import openai
import pytest

from tests.server.conftest import parrot
from tests.server.serving import ASK, serving

SCHEMA = {
    "type": "object",
    "properties": {"kind": {"enum": ["tide", "wave"]}, "high": {"type": "boolean"}},
    "required": ["kind", "high"],
    "additionalProperties": False,
}
FORM = {"type": "json_schema", "json_schema": {"name": "water", "schema": SCHEMA, "strict": True}}


@pytest.fixture(scope="module")
def client():
    """The parrot wants to say something else throughout."""
    with (
        serving(parrot(context=4096)) as served,
        openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as made,
    ):
        yield made


def ask(client, **more):
    return client.chat.completions.create(
        model="parrot", messages=ASK, temperature=0, max_tokens=600, **more
    )


def test_a_schema(client):
    done = ask(client, response_format=FORM)
    said = json.loads(done.choices[0].message.content)
    assert said["kind"] in ("tide", "wave")
    assert isinstance(said["high"], bool)
    assert done.choices[0].finish_reason == "stop"


def test_a_schema_streamed_is_the_same_text_without_speculation(client):
    texts = set()
    for mode in ("auto", "off"):
        body = {"speculation": {"mode": mode}}
        texts.add(ask(client, response_format=FORM, extra_body=body).choices[0].message.content)
        stream = ask(client, response_format=FORM, stream=True, extra_body=body)
        texts.add("".join(chunk.choices[0].delta.content or "" for chunk in stream))
    assert len(texts) == 1


def test_any_object(client):
    done = ask(client, response_format={"type": "json_object"})
    assert done.choices[0].message.content.startswith("{")


def test_text_is_no_form(client):
    done = ask(client, response_format={"type": "text"})
    assert done.choices[0].message.content.startswith("die Flut")


def test_a_grammar(client):
    done = ask(client, extra_body={"grammar": 'start: "yes" | "no"'}, n=2)
    assert {choice.message.content for choice in done.choices} <= {"yes", "no"}
    done = client.completions.create(
        model="parrot",
        prompt=["a", "bc"],
        max_tokens=9,
        temperature=0,
        extra_body={"grammar": 'start: "yes" | "no"'},
    )
    assert {choice.text for choice in done.choices} <= {"yes", "no"}


def conflicting():
    patterns = [{"type": "string", "pattern": f"^.*a.{{{i}}}b.*$"} for i in range(5, 60)]
    return {"allOf": patterns}


def form(schema):
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}


@pytest.mark.parametrize(
    ("more", "param", "said"),
    [
        ({"response_format": form(conflicting())}, "response_format", "more than 2 s"),
        ({"response_format": form({"type": "strin"})}, "response_format", "strin"),
        ({"response_format": form({"$ref": "http://a/b"})}, "response_format", "not fetch"),
        ({"response_format": form({"enum": ["x" * 70_000]})}, "response_format", "bytes"),
        ({"response_format": {"type": "xml"}}, "response_format.type", "json_schema"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema", "missing"),
        ({"extra_body": {"grammar": "start: X"}}, "grammar", "X"),
        ({"extra_body": {"grammar": 'root ::= "a"'}}, "grammar", "GBNF"),
        ({"extra_body": {"grammar": 'start: "a"', "ignore_eos": True}}, None, "ignore_eos"),
        ({"extra_body": {"grammar": 'start: "a"', "min_tokens": 4}}, None, "min_tokens"),
        (
            {"response_format": FORM, "extra_body": {"grammar": 'start: "a"'}},
            "grammar",
            "whole answer",
        ),
    ],
)
def test_what_is_refused(client, more, param, said):
    begun = time.monotonic()
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, **more)
    assert time.monotonic() - begun < 6
    assert caught.value.param == param
    assert said in caught.value.message


def test_the_server_answers_others_while_a_grammar_compiles(client):
    """And the same client, after it: nothing is left behind."""
    with pytest.raises(openai.BadRequestError):
        ask(client, response_format=form(conflicting()))
    assert ask(client).choices[0].message.content.startswith("die Flut")
