"""Bodies that are refused: 400, and the field's name."""

import pytest

from tests.server.conftest import parrot
from tests.server.serving import ASK, error_of, serving

IMAGE = {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"temperatur": 1}, "temperatur"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": -1}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"top_p": 1.5}, "top_p"),
        ({"top_k": -1}, "top_k"),
        ({"top_k": 1.5}, "top_k"),
        ({"min_p": 2}, "min_p"),
        ({"typical_p": 0}, "typical_p"),
        ({"repetition_penalty": 0}, "repetition_penalty"),
        ({"presence_penalty": 3}, "presence_penalty"),
        ({"frequency_penalty": -3}, "frequency_penalty"),
        ({"logit_bias": {"258": 1}}, "logit_bias"),
        ({"logit_bias": {"1": 101}}, "logit_bias.1"),
        ({"logit_bias": {str(i): 1 for i in range(1025)}}, "logit_bias"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"stop": [""]}, "stop[0]"),
        ({"stop": ["x"] * 17}, "stop"),
        ({"stop": "x" * 257}, "stop"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_completion_tokens": 0}, "max_completion_tokens"),
        ({"n": 0}, "n"),
        ({"n": 17}, "n"),
        ({"top_logprobs": 21, "logprobs": True}, "top_logprobs"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"logprobs": 3}, "logprobs"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"stream_options": {"include_cats": True}, "stream": True}, "stream_options.include_cats"),
        ({"store": True}, "store"),
        ({"store": 0}, "store"),
        ({"service_tier": "flex"}, "service_tier"),
        ({"audio": {}}, "audio"),
        ({"messages": []}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"content": "hello"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": "", "mood": 1}]}, "messages[0].mood"),
        ({"messages": [{"role": "user", "content": [IMAGE]}]}, "messages[0].content[0].type"),
        ({"speculation": {"mode": "magic"}}, "speculation.mode"),
        ({"speculation": {"mod": "auto"}}, "speculation.mod"),
        ({"speculation": {"draft_len": 65}}, "speculation.draft_len"),
        ({"speculation": {"exactness": "roughly"}}, "speculation.exactness"),
        ({"speculation": {"allow_lossy": True}}, "speculation.allow_lossy"),
        ({"speculation": {"user_scope": "x" * 257}}, "speculation.user_scope"),
        ({"prediction": {"type": "content", "content": "x" * 600}}, "prediction"),
        ({"prediction": {"type": "guess", "content": "x"}}, "prediction.type"),
        ({"model": 5}, "model"),
    ],
)
def test_a_field_is_named(served, fields, param):
    assert served.refused(400, **fields)["param"] == param


def test_a_missing_field_is_named(served):
    error = error_of(served.post("/v1/chat/completions", {}), 400)
    assert (error["param"], error["message"]) == ("messages", "The field 'messages' is missing.")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"nil", b"\xff", b'{"a":' * 9000, b'{"n":NaN}'])
def test_what_is_not_a_json_object(served, body):
    sent = {"Content-Type": "application/json"}
    reply = served.http.post("/v1/chat/completions", content=body, headers=sent)
    assert error_of(reply, 400)["type"] == "invalid_request_error"


def test_a_form_is_refused(served):
    reply = served.http.post("/v1/chat/completions", data={"messages": "hello"})
    assert "application/json" in error_of(reply, 400)["message"]


def test_a_prompt_longer_than_the_context(served):
    error = served.refused(400, messages=[{"role": "user", "content": "x" * 600}])
    assert (error["param"], error["code"]) == ("messages", "context_length_exceeded")


def test_bitwise_where_it_cannot_be_promised(served):
    error = served.refused(400, speculation={"exactness": "bitwise"})
    assert "'bitwise' cannot be promised" in error["message"]


def test_whole_floats_are_integers(served):
    assert served.chat(max_tokens=3.0)["usage"]["completion_tokens"] == 3


def test_labels_and_nulls_ask_for_nothing(served):
    labels = {"user": "me", "metadata": {"a": "b"}, "store": False, "service_tier": "auto"}
    nulls = dict.fromkeys(("top_p", "stop", "n", "logit_bias", "tools", "response_format"))
    assert served.chat(**labels, **nulls)["choices"]


def test_a_lenient_server_passes_over_unknown_fields():
    with serving(parrot(), lenient=True) as served:
        talk = [ASK[0] | {"mood": "good"}]
        assert served.chat(temperatur=1, messages=talk, speculation={"mod": 1})["choices"]
        assert served.refused(400, temperature="hot")["param"] == "temperature"


def test_a_long_body():
    with serving(parrot(), max_body=2000) as served:
        assert served.chat()["choices"]
        error = served.refused(413, user="x" * 2000)
        chunked = served.http.post(
            "/v1/chat/completions",
            content=iter([b" " * 1500] * 3),
            headers={"Content-Type": "application/json"},
        )
    assert error["code"] == "body_too_large"
    assert error_of(chunked, 413)["code"] == "body_too_large"


def test_a_field_cannot_forge_a_line_of_the_log(served, caplog):
    with caplog.at_level("INFO", "foredraft.server"):
        served.refused(400, **{"a\nb": 1})
    assert caplog.messages == [r"POST /v1/chat/completions 400 a\nb"]


def test_a_body_of_the_usual_size_is_read(served):
    talk = [{"role": "user", "content": "x" * (3 << 20)}]
    assert served.refused(400, messages=talk)["code"] == "context_length_exceeded"


def test_a_failure_of_the_server_is_an_error_object(monkeypatch):
    with serving(parrot()) as served:

        def fail(*given, **options):
            raise RuntimeError("out of luck")

        monkeypatch.setattr(served.service.scheduler, "submit", fail)
        error = served.refused(500)
    assert error["type"] == "server_error"
    assert "luck" not in error["message"]
