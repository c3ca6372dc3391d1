"""What goes wrong is one sentence and a way on."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.server.web.recording import TEXTS
from tests.server.web.test_chat import ask


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("busy", "The server is full; a place should be free in about 3 s."),
        ("refuse", "The server refused: max_tokens is 9; it must be 10 or more."),
    ],
)
def test_a_refusal_is_one_sentence(open_page: Any, prompt: str, said: str) -> None:
    page = open_page()
    page.fill("#prompt", prompt)
    page.click("#send")
    assert page.inner_text(".notice p") == said
    ask(page, "go")
    assert page.locator(".notice").count() == 0


def test_a_dropped_connection_keeps_what_came_and_tries_again(open_page: Any) -> None:
    page = open_page()
    page.fill("#prompt", "drop")
    page.click("#send")
    said = page.inner_text(".notice p")
    assert said.startswith("The connection broke after 8 tokens")
    assert page.inner_text(".answer .text") == "".join(TEXTS[:8])
    page.click(".notice button")
    page.wait_for_selector(".answer .tok:nth-child(34)")
    assert page.inner_text(".answer .text") == "".join(TEXTS)
    assert page.locator(".notice").count() == 0
    assert page.locator(".answer").count() == 1


def test_a_server_that_is_gone(open_page: Any) -> None:
    page = open_page()
    page.context.set_offline(True)
    page.fill("#prompt", "go")
    page.click("#send")
    gone = "The server does not answer; is foredraft serve still running?"
    assert page.inner_text("#log .notice p") == gone
    page.context.set_offline(False)
    page.click("#log .notice button")
    page.wait_for_selector(".foot")


def test_a_slow_network_streams_all_the_same(open_page: Any) -> None:
    page = open_page()
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    # A bad mobile connection: 300 ms away, 50 kB/s.
    network.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 300, "downloadThroughput": 5e4, "uploadThroughput": 5e4},
    )
    page.fill("#prompt", "go")
    page.click("#send")
    assert page.inner_text(".waiting") == "Reading the prompt…"
    page.wait_for_selector(".foot")
    assert page.inner_text(".answer .text") == "".join(TEXTS)


def test_a_key_is_asked_for_and_kept_for_the_tab(open_page: Any, server: SimpleNamespace) -> None:
    page = open_page()
    server.app.state.key = "sesame"
    page.fill("#prompt", "go")
    page.click("#send")
    page.wait_for_selector("#key[open]")
    page.fill("#key-value", "sesame")
    page.keyboard.press("Enter")
    page.wait_for_selector(".foot")
    assert page.evaluate("sessionStorage.getItem('foredraft.key')") == "sesame"
    assert page.evaluate("localStorage.length") == 0
