"""POST /v1/completions."""

import pytest

from tests.cli.parrot import ANSWER, SAYS
from tests.server.serving import error_of

PROMPT = [*b"hello", ANSWER]


def test_a_whole_answer(client):
    done = client.completions.create(model="parrot", prompt=PROMPT, temperature=0)
    assert (done.object, done.choices[0].text) == ("text_completion", SAYS)
    assert done.choices[0].finish_reason == "stop"
    assert done.usage.prompt_tokens == 6


def test_a_stream(client):
    chunks = list(
        client.completions.create(model="parrot", prompt=PROMPT, temperature=0, stream=True)
    )
    assert "".join(chunk.choices[0].text for chunk in chunks) == SAYS
    assert [chunk.choices[0].finish_reason for chunk in chunks[-2:]] == [None, "stop"]


def test_a_text(served):
    done = served.post("/v1/completions", {"prompt": "hello", "max_tokens": 3}).json()
    assert done["usage"]["prompt_tokens"] == 5


def test_several_prompts_and_choices(served):
    body = {"prompt": [PROMPT, [ANSWER]], "n": 2, "temperature": 0, "max_tokens": 3}
    done = served.post("/v1/completions", body).json()
    assert [(one["index"], one["text"]) for one in done["choices"]] == [
        (index, "die") for index in range(4)
    ]
    assert done["usage"]["prompt_tokens"] == 6 + 1
    assert done["usage"]["completion_tokens"] == 4 * 3


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"echo": True}, "echo"),
        ({"suffix": "."}, "suffix"),
        ({"best_of": 2}, "best_of"),
        ({"prompt": []}, "prompt"),
        ({"prompt": ""}, "prompt"),
        ({"prompt": [258]}, "prompt"),
        ({"prompt": ["a", 1]}, "prompt[1]"),
        ({"prompt": ["a"] * 5, "n": 4}, "n"),
    ],
)
def test_refusals(served, fields, param):
    reply = served.post("/v1/completions", {"prompt": "hello"} | fields)
    assert error_of(reply, 400)["param"] == param


def test_false_and_null_ask_for_nothing(served):
    body = {"prompt": "hello", "echo": False, "suffix": None, "best_of": 1, "max_tokens": 2}
    assert served.post("/v1/completions", body).status_code == 200
