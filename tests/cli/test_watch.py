"""`foredraft watch`: lines while it runs, a summary at its end."""

import json
import sys

import pytest

from tests.cli.terminal import Terminal
from tests.rivals.fake import json_page, serving
from tests.rivals.pages import foredraft_page, llama_page, metrics, vllm_page

KEYS = {
    "summary", "seconds", "generated", "running", "drafts", "drafted", "accepted",
    "acceptance_rate", "accepted_of_drafted", "per_position", "tokens_per_target_pass",
    "tokens_per_s", "decode_tokens_per_s",
}  # fmt: skip
PAGE = metrics(llama_page(100, 4.0, 60, 40, 20, (18, 14, 8)))


def test_once(call):
    with serving(metrics=PAGE) as server:
        done = call("watch", server.url, "--once")
    assert (done.status, done.err) == (0, "")
    assert done.out == (
        "Since its start: 100 tokens, 40 of 60 drafted accepted (0.67; by position 0.90 0.70 0.40),"
        " 1.67 tokens/pass, 25.0 tok/s for each.\n"
    )


def test_once_as_json(call):
    with serving(metrics=metrics(vllm_page(100, 60, 40, 20, (18, 14, 8)))) as server:
        value = json.loads(call("watch", server.url, "--once", "--json").out)
    assert set(value) == KEYS
    assert (value["summary"], value["seconds"], value["accepted"]) == (True, None, 40)


def test_foredrafts_own_server_tells_alpha(call):
    with serving(metrics=metrics(foredraft_page(100, 4.0, 60, 40, 10, 20, (18, 14, 8)))) as server:
        told = call("watch", server.url, "--once")
        value = json.loads(call("watch", server.url, "--once", "--json").out)
    assert "by position 0.90 0.70 0.40), α 0.80, 1.67 tokens/pass" in told.out
    assert value["acceptance_rate"] == 0.8


def test_a_server_that_ends_leaves_a_summary(call):
    pages = iter([PAGE, metrics(llama_page(140, 5.0, 90, 60, 30, (27, 20, 13)))])
    end = (500, "text/plain", "")
    with serving(metrics=lambda: next(pages, end)) as server:
        done = call("watch", server.url, "--interval", "0.1")
    assert done.status == 2
    head, line, summary = done.out.splitlines()
    assert head.split()[:4] == ["tok/s", "each", "drafted", "accepted"]
    assert line.split()[1:6] == ["40.0", "30", "20", "0.67", "2.00"]
    assert line.split()[7:] == ["0.90", "0.60", "0.50"]
    assert summary.startswith("In all, 0 s: 40 tokens, 20 of 30 drafted accepted (0.67;")
    assert "has no /metrics" in done.err


def test_lines_as_json(call):
    pages = iter([PAGE, PAGE])
    with serving(metrics=lambda: next(pages, (500, "text/plain", ""))) as server:
        done = call("watch", server.url, "--interval", "0.1", "--json")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["summary"] for line in lines] == [False, True]
    assert all(set(line) == KEYS for line in lines)


def test_why_nothing_is_drafted(call):
    slots = json_page([{"speculative": False}])
    pages = iter([metrics(llama_page(9, 1.0, 0, 0, 0))])
    with serving(metrics=lambda: next(pages, (500, "", "")), slots=slots) as server:
        done = call("watch", server.url, "--interval", "0.1")
    assert "llama-server does so with --spec-type only" in done.err


def test_a_server_without_counters(refuse):
    with serving(metrics=json_page({"error": {"message": "off"}}, 501)) as server:
        refuse("watch", server.url, says="llama-server needs --metrics")


@pytest.mark.parametrize("library", ["httpx2", "prometheus_client.parser"])
def test_without_the_libraries(refuse, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with serving(metrics=PAGE) as server:
        refuse("watch", server.url, says="pip install 'foredraft[bench]'")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_ctrl_c_ends_with_a_summary():
    with (
        serving(metrics=PAGE) as server,
        Terminal("watch", server.url, "--interval", "0.1") as terminal,
    ):
        terminal.wait_for(r"by position\n.*\n")
        terminal.interrupt()
        seen, status = terminal.end()
    assert status == 0
    assert "In all, " in seen
    assert "Traceback" not in seen
