"""The race: measured in turns, shown side by side."""

from types import SimpleNamespace
from typing import Any

from tests.server.web.recording import TEXTS
from tests.server.web.test_step import module


def race(page: Any, prompt: str) -> None:
    page.fill("#race-prompt", prompt)
    page.click("#race-start")
    page.wait_for_selector("#race-result:not([hidden])")


def seconds(page: Any, lane: str) -> float:
    return float(page.inner_text(f"#race-{lane}-clock").removesuffix(" s"))


def test_both_ways_are_measured_and_compared(open_page: Any, server: SimpleNamespace) -> None:
    page = open_page("#race")
    race(page, "go")
    off, on = server.app.state.bodies
    assert [body["speculation"]["mode"] for body in (off, on)] == ["off", "auto"]
    assert off["seed"] == on["seed"]
    # Neither may draft from what the other wrote.
    assert off["speculation"]["user_scope"] != on["speculation"]["user_scope"]
    assert seconds(page, "on") < seconds(page, "off")
    ratio = float(page.inner_text("#race-ratio").removesuffix("×"))
    assert abs(ratio - seconds(page, "off") / seconds(page, "on")) < 0.2
    assert page.inner_text("#race-same") == "Both texts are the same, token for token."
    assert "34 tokens in 34 passes" in page.inner_text("#race-off-note")
    assert "34 tokens in 15 passes" in page.inner_text("#race-on-note")
    assert page.locator("#race-off-text .drafted").count() == 0
    assert page.locator("#race-on-text .drafted").count() == 19


def test_a_difference_is_marked_and_explained(open_page: Any) -> None:
    page = open_page("#race")
    race(page, "differ")
    assert page.inner_text("#race-same").startswith("The texts part at token 13")
    assert page.locator(".differs").all_inner_texts() == [TEXTS[12], " forever"]


def test_a_text_that_ends_earlier_is_marked_at_its_end(open_page: Any) -> None:
    page = open_page("#race")
    race(page, "short")
    assert page.locator(".differs").all_inner_texts() == [TEXTS[12], "ends here"]
    assert "Its p there: 0.90 without, 0.90 with." in page.inner_text("#race-same")


def test_times_that_others_shared_are_called_unfair(open_page: Any) -> None:
    page = open_page("#race")
    race(page, "go")
    assert page.locator("#race-shared").is_hidden()
    race(page, "crowd")
    assert page.inner_text("#race-shared").startswith("Other requests ran at the same time")


def test_the_clock_starts_after_queueing_and_reading_the_prompt(open_page: Any) -> None:
    page = open_page("#race")
    told = page.evaluate(
        f"async () => {{ const {{ Answer }} = await import({module('answer')});"
        "const answer = Object.assign(new Answer({}), { sent: 1000, arrivals: [1500, 2300] });"
        "answer.usage = { speculation: { queue_s: 0.1, prefill_s: 0.2 } };"
        "return [answer.begun, answer.seconds]; }"
    )
    assert told == [1300, 1.0]


def test_a_lane_shows_what_had_come_by_then(open_page: Any) -> None:
    page = open_page("#race")
    race(page, "go")
    shown = page.evaluate(
        f"async () => {{ const {{ Lane }} = await import({module('lane')});"
        "const tokens = ['a', 'b', 'c'].map((text) => ({ text, from_draft: false }));"
        "const lane = new Lane('off');"
        "lane.start({ tokens, rounds: [], arrivals: [1100, 1100, 1300], begun: 1000,"
        " seconds: 0.3, speedup: () => null });"
        "return [0.05, 0.15, 0.3].map((at) => [lane.at(at), lane.view.node.textContent]); }"
    )
    assert shown == [[False, ""], [False, "ab"], [True, "abc"]]


def test_it_can_be_shown_again_in_its_own_time(open_page: Any) -> None:
    page = open_page("#race", reduced_motion="no-preference")
    race(page, "go")
    page.click("#race-again")
    assert page.locator("#race-result").is_hidden()
    page.wait_for_selector("#race-result:not([hidden])")
    assert page.locator("#race-off-text .tok").count() == len(TEXTS)


def test_a_broken_race_can_be_run_again(open_page: Any) -> None:
    page = open_page("#race")
    page.fill("#race-prompt", "drop")
    page.click("#race-start")
    page.click("#race-trouble .notice button")
    page.wait_for_selector("#race-result:not([hidden])")
