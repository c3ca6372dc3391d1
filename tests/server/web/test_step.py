"""The step view: a finished answer, round by round."""

import re
from types import SimpleNamespace
from typing import Any

from tests.server.web.recording import TEXTS
from tests.server.web.test_chat import ask

TREE = {
    "accepted": 2,
    "rejected": 2,
    "tokens": [{"id": 2}, {"id": 4}, {"id": 9}],
    "drafted": [
        {"id": 1, "parent": -1},
        {"id": 2, "parent": -1},
        {"id": 3, "parent": 0},
        {"id": 4, "parent": 1},
        {"id": 5, "parent": 3},
        {"id": 6, "parent": 3},
    ],
}


def module(name: str) -> str:
    """A module's address, as a JavaScript expression."""
    return f"document.querySelector('link[href$=\"/{name}.js\"]').href"


def test_rounds_show_what_became_of_each_drafted_token(open_page: Any) -> None:
    page = open_page()
    ask(page, "go")
    page.click(".foot a")
    assert page.inner_text("#step-at") == "Round 1 of 15"
    assert page.locator("#step-draft .chip").all_inner_texts() == ["The\nundrafted"]
    for _ in range(5):
        page.click("#step-on")
    assert page.locator("#step-draft .chip").all_inner_texts() == [
        "␣and\naccepted", "␣twice\naccepted", "␣wrong0\nrejected", "␣wrong1\nnot judged",
        "␣a\nredrawn",
    ]  # fmt: skip
    assert page.inner_text("#step-before") == "".join(TEXTS[:8])
    assert "4: 2 accepted, 1 rejected, 1 never judged; 3 emitted" in page.inner_text("#step-facts")
    page.focus("#step-round")
    page.keyboard.press("End")
    assert page.inner_text("#step-at") == "Round 15 of 15"
    for _ in range(7):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#step-draft .bonus").count() == 1


def test_a_branch_of_a_tree_has_a_row_of_its_own(open_page: Any) -> None:
    page = open_page()
    ask(page, "tree")
    page.click(".foot a")
    page.fill("#step-round", "6")
    assert page.locator("#step-draft li").all_inner_texts()[4:] == [
        "at the start", "␣other\nnot judged", "after ␣twice", "␣a\nredrawn",
    ]  # fmt: skip


def test_another_draft_length_is_asked_for(open_page: Any, server: SimpleNamespace) -> None:
    page = open_page()
    ask(page, "go")
    page.click("#to-step")
    page.get_by_text("γ = 2 in every round").wait_for()
    assert "18 passes where this answer took 15" in page.inner_text("#what-result")
    asked = server.app.state.replays[-1]
    assert asked["prompt"] == [{"role": "user", "content": "go"}]
    assert asked["tokens"] == list(range(100, 100 + len(TEXTS)))
    assert (asked["mode"], asked["draft_len"]) == ("suffix", 2)
    page.fill("#what-length", "5")
    page.select_option("#what-mode", "ngram")
    page.get_by_text("γ = 5 in every round").wait_for()
    assert server.app.state.replays[-1]["mode"] == "ngram"


def test_it_plays_by_itself(open_page: Any) -> None:
    page = open_page()
    ask(page, "go")
    page.click("#to-step")
    page.click("#step-play")
    page.locator("#step-at", has_text=re.compile("Round ([2-9]|1.) ")).wait_for()
    page.click("#step-play")
    assert page.inner_text("#step-play") == "Play"


def test_verdicts_follow_the_accepted_path_of_a_tree(open_page: Any) -> None:
    page = open_page("#step")
    assert page.is_visible("#step-empty")
    found = page.evaluate(
        f"async (round) => (await import({module('verdicts')})).verdicts(round)", TREE
    )
    states = ["ignored", "accepted", "ignored", "accepted", "rejected", "rejected"]
    assert found == {"states": states, "last": 3}
