"""The client, and a sentence for each way in which a server can be wrong."""

import json
import socket
import time
from contextlib import closing

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.rivals.http import root
from foredraft.rivals.openai import Question, Server
from tests.rivals.fake import DIE, chunk, json_page, saying, serving, usage
from tests.rivals.pages import llama_page, metrics

QUESTION = Question([{"role": "user", "content": "Hi"}], 8)


def ask(fake, timeout=5.0, **given):
    with closing(Server.at(fake.url, timeout, **given)) as server:
        return server.ask(QUESTION)


def refused(fake, timeout=5.0):
    with pytest.raises(ForedraftError) as caught:
        ask(fake, timeout)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.startswith(fake.url)
    return sentence


def test_an_answer() -> None:
    with serving(lambda body: [chunk(""), 0.02, *saying("Hello", " there", tokens=3)]) as fake:
        answer = ask(fake, api_key="secret")
    assert (answer.text, answer.tokens, answer.finish_reason) == ("Hello there", 3, "stop")
    assert answer.first_s >= 0.02
    (body, headers) = fake.asked[0]
    assert headers["Authorization"] == "Bearer secret"
    assert body == {
        "messages": QUESTION.messages, "max_tokens": 8, "temperature": 0.0,
        "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip


def test_a_stream_in_pieces_that_are_no_lines() -> None:
    text = json.dumps(chunk("a\u2028b"), ensure_ascii=False)
    with serving(lambda body: [f"{text}\r\n\r\ndata: {text}", *saying("c")]) as fake:
        assert ask(fake).text == "a\u2028ba\u2028bc"


def test_a_stream_may_lack_its_done() -> None:
    with serving(lambda body: [chunk("a"), chunk(finish="length"), usage(1)]) as fake:
        assert ask(fake).tokens == 1


def test_extra_fields_and_fields_taken_away() -> None:
    with serving() as fake, closing(Server.at(fake.url, 5.0)) as server:
        drafting = server.serving(None).also({"draft_model": "small", "top_k": 3})
        drafting.also({"draft_model": None}).ask(QUESTION)
    body, _ = fake.asked[0]
    assert (body["model"], body["top_k"]) == ("tiny", 3)
    assert "draft_model" not in body


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ((404, "text/html", "<h1>no</h1>"), "does not have /v1/chat/completions (404 Not Found)"),
        (json_page({"error": {"message": "no model x"}}, 404), "404 no model x"),
        (json_page({"error": {"message": "bad key"}}, 401), "wants a key (401 bad key)"),
        (json_page({"error": {"message": "Loading model"}}, 503), "is not ready (503 Loading"),
        (json_page({"error": "broken"}, 500), "refused the request (500 broken)"),
        (json_page({"error": "no such thing"}), "reports an error (no such thing)"),
        (json_page({"choices": []}), "answers with application/json instead of a stream"),
        ((200, "text/html", "<html>"), "answers with text/html instead of a stream"),
        ((302, "text/html", ""), "refused the request (302 Found)"),
    ],
)
def test_wrong_answers(page: tuple, said: str) -> None:
    with serving(chat=page) as fake:
        assert said in refused(fake)


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (["not json"], "sent 'not json' where JSON was due"),
        (["[1]"], "sent '[1]' where JSON was due"),
        ([chunk("a"), {"error": {"message": "out of\nmemory"}}], "error (out of memory)"),
        ([chunk("a"), "[DONE]"], "ended the stream after 1 pieces"),
        ([chunk("a")], "ended the stream after 1 pieces"),
        ([chunk("a"), DIE], "broke off"),
        (["\x1b[2J" + "x" * 999], "x…' where JSON was due"),
    ],
)
def test_wrong_streams(items: list, said: str) -> None:
    with serving(lambda body: items) as fake:
        sentence = refused(fake)
    assert said in sentence
    assert len(sentence) < 400
    assert sentence.isprintable()


def test_a_slow_server() -> None:
    with serving(lambda body: [chunk("a"), 2.0, chunk("b")]) as fake:
        begun = time.monotonic()
        assert "sent nothing for 0.2 s; raise --timeout" in refused(fake, timeout=0.2)
        assert time.monotonic() - begun < 1.5


def test_a_server_that_sends_nothing_of_the_answer() -> None:
    with serving(lambda body: [item for _ in range(40) for item in (0.05, chunk(""))]) as fake:
        assert "sent nothing for 0.2 s" in refused(fake, timeout=0.2)


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ForedraftError, match=r"Nothing answers at .* start the server"):
        Server.at(url, 5.0).serving(None)


@pytest.mark.parametrize(
    "url",
    ["http://a:1", "a:1", "http://a:1/", "http://a:1/v1", "http://a:1/v1/",
     "http://a:1/v1/chat/completions", "http://a:1/v1/models"],
)  # fmt: skip
def test_addresses_as_people_write_them(url: str) -> None:
    assert root(url) == "http://a:1"


def test_an_address_below_another() -> None:
    assert root("https://a/gate/v1/") == "https://a/gate"


@pytest.mark.parametrize(
    "url", ["", "http://", "ftp://a", "a b", "http://a:99999999", "http://[:1"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ForedraftError, match=r"is not a server's address|Nothing answers"):
        Server.at(url, 1.0).serving(None)


def test_a_key_with_a_newline_is_refused_and_not_shown() -> None:
    with pytest.raises(ForedraftError, match="copy it once more") as caught:
        Server.at("http://a", 1.0, "secret\n")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("page", "name"),
    [
        (json_page({"data": [{"id": "a/b"}]}), "a/b"),
        (json_page({"data": []}), None),
        (json_page({"data": None}), None),
        ((404, "text/plain", "no"), None),
    ],
)
def test_the_models_name_is_asked_for(page: tuple, name: str | None) -> None:
    with serving(models=page) as fake, closing(Server.at(fake.url, 5.0)) as server:
        assert server.serving(None).model == name
        assert server.serving("mine").model == "mine"


def test_several_models_need_a_name() -> None:
    many = json_page({"data": [{"id": f"m{i}"} for i in range(7)]})
    with (
        serving(models=many) as fake,
        closing(Server.at(fake.url, 5.0)) as server,
        pytest.raises(ForedraftError, match=r"serves 7 models .m0, .*m4 .*--model"),
    ):
        server.serving(None)


def test_tokens_with_their_rivals() -> None:
    content = [{"token": "Hi", "logprob": -0.1, "top_logprobs": [{"token": "Hi", "logprob": -0.1}]}]
    whole = {"choices": [{"message": {"content": "Hi"}, "logprobs": {"content": content}}]}
    page = json_page(whole)
    with serving(whole=lambda body: page) as fake, closing(Server.at(fake.url, 5.0)) as server:
        found = server.explain(QUESTION, 1.0)
    assert (found.text, found.tokens) == ("Hi", content)
    assert (fake.asked[0][0]["logprobs"], fake.asked[0][0]["top_logprobs"]) == (True, 20)


def test_a_server_that_refuses_log_probabilities() -> None:
    with serving() as fake, closing(Server.at(fake.url, 5.0)) as server:
        assert server.explain(QUESTION, 1.0) is None


def test_counters_slots_and_their_lack() -> None:
    slots = json_page([{"id": 0, "speculative": True}])
    page = metrics(llama_page(5, 1.0, 0, 0, 0))
    with serving(metrics=page, slots=slots) as fake, closing(Server.at(fake.url, 5.0)) as server:
        assert server.totals().generated == 5
        assert server.speculates() is True
    with serving(slots=json_page({})) as fake, closing(Server.at(fake.url, 5.0)) as server:
        assert (server.totals(), server.speculates()) == (None, None)


def test_counters_behind_a_key() -> None:
    with (
        serving(metrics=(401, "text/plain", "")) as fake,
        closing(Server.at(fake.url, 5.0)) as server,
        pytest.raises(ForedraftError, match="wants a key"),
    ):
        server.metrics()
