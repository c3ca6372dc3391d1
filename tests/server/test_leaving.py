"""Clients that leave or read slowly, full queues, long answers and the end of the server."""

import json
import socket
import threading

import httpx2
import openai
import pytest

from tests.cli.parrot import SAYS
from tests.server.conftest import parrot
from tests.server.serving import ASK, error_of, serving

LONG = "so lang wie breit " * 400


@pytest.fixture
def slow():
    """A parrot that takes its time, one request at a time."""
    with serving(parrot(says=LONG, pause=0.005, context=8192), slots=1, queue=1) as served:
        yield served


def begin(served, **fields):
    """A streamed request under way, as a response to read from or to close."""
    body = {"messages": ASK, "stream": True, "temperature": 0} | fields
    client = httpx2.Client(base_url=served.url, timeout=20)
    reply = client.send(
        client.build_request("POST", "/v1/chat/completions", json=body), stream=True
    )
    assert reply.status_code == 200
    return reply


def test_a_stream_that_is_left_is_stopped(slow):
    reply = begin(slow)
    chunks = reply.iter_raw()
    next(chunks)
    slow.wait_busy()
    reply.close()
    slow.wait_idle()


def test_a_stream_that_is_left_while_it_waits_is_stopped(slow):
    first = begin(slow)
    slow.wait_busy()
    second = begin(slow)
    second.close()
    first.close()
    slow.wait_idle()


def test_a_whole_answer_that_is_left_is_stopped(slow):
    with pytest.raises(httpx2.TimeoutException):
        slow.post("/v1/chat/completions", {"messages": ASK}, timeout=0.2)
    slow.wait_idle()


def test_leaving_stops_every_choice():
    with serving(parrot(says=LONG, pause=0.005, context=8192)) as served:
        reply = begin(served, n=4)
        served.wait_busy()
        reply.close()
        served.wait_idle()


def test_a_full_queue(slow):
    replies = [begin(slow), begin(slow)]
    slow.wait_busy()
    reply = slow.post("/v1/chat/completions", {"messages": ASK})
    assert error_of(reply, 429)["code"] == "queue_full"
    assert int(reply.headers["retry-after"]) >= 1
    with (
        openai.OpenAI(base_url=f"{slow.url}/v1", api_key="none", max_retries=0) as client,
        pytest.raises(openai.RateLimitError),
    ):
        client.chat.completions.create(model="parrot", messages=ASK)
    for one in replies:
        one.close()


def test_choices_that_do_not_fit_leave_none_behind(slow):
    assert slow.refused(429, n=4)["code"] == "queue_full"
    slow.wait_idle()


def test_a_client_that_reads_nothing_holds_nobody_up():
    body = {"messages": ASK, "stream": True, "logprobs": True, "top_logprobs": 20}
    raw = json.dumps(body | {"speculation": {"details": True}}).encode()
    with serving(parrot(says=LONG, context=1600)) as served, served.connection() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        deaf.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(raw), raw)
        )
        served.wait_busy()
        served.wait_idle()
        assert served.chat(max_tokens=3)["choices"]


def test_an_answer_that_takes_too_long(caplog):
    caplog.set_level("INFO", "foredraft.server")
    with serving(parrot(says=LONG, pause=0.01, context=8192), timeout_s=0.1) as served:
        error = served.refused(504)
        *_, last = served.chunks()
    assert (error["type"], error["code"]) == ("timeout", "timeout")
    assert last["error"]["code"] == "timeout"
    whole, stream = caplog.messages
    assert whole == "POST /v1/chat/completions 504 timeout"
    assert stream.endswith(" 504 in its stream")


def test_openais_client_hears_of_a_failure_in_a_stream():
    with (
        serving(parrot(says=LONG, pause=0.01, context=8192), timeout_s=0.1) as served,
        openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client,
    ):
        stream = client.chat.completions.create(model="parrot", messages=ASK, stream=True)
        with pytest.raises(openai.APIError, match=r"longer than 0\.1 s"):
            list(stream)


def test_the_end(slow):
    slow.service.draining.set()
    slow.service.scheduler.close()
    health = slow.get("/health")
    assert (health.status_code, health.json()) == (503, {"status": "draining"})
    assert slow.refused(503)["code"] == "shutting_down"


def test_a_body_that_does_not_come(slow, monkeypatch):
    monkeypatch.setattr("foredraft.server.body._PATIENCE_S", 0.1)
    with slow.connection() as client:
        client.sendall(
            b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        assert client.recv(1000).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_leaves_within_its_body(served, caplog):
    with served.connection() as client:
        client.sendall(
            b"POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
    with caplog.at_level("INFO"):
        served.wait(lambda: caplog.messages)
    assert caplog.messages == ["POST /tokenize 400 "]


def test_streams_run_beside_each_other():
    with serving(parrot()) as served:
        texts = []

        def ask():
            *chunks, _ = served.chunks(seed=1)
            texts.append("".join(c["choices"][0]["delta"].get("content", "") for c in chunks))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert texts == [SAYS] * 8
