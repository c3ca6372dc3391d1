"""The chat in a real browser: streaming, colours, tooltips, keys."""

from types import SimpleNamespace
from typing import Any

from tests.server.web.recording import TEXTS


def ask(page: Any, prompt: str, whole: bool = True) -> None:
    page.fill("#prompt", prompt)
    page.press("#prompt", "Enter")
    page.wait_for_selector(".foot" if whole else ".answer .tok")


def test_text_appears_while_it_is_written(open_page: Any) -> None:
    page = open_page()
    ask(page, "slow", whole=False)
    early = page.locator(".answer .tok").count()
    assert 0 < early < len(TEXTS)
    assert page.locator(".answer").get_attribute("aria-busy") == "true"
    page.locator(".answer .tok").nth(early + 2).wait_for()
    page.click("#stop")
    page.wait_for_selector(".foot")
    assert "Stopped" in page.inner_text(".foot")
    assert page.locator(".answer .tok").count() < len(TEXTS)


def test_drafted_tokens_have_their_drafters_colour_and_underline(open_page: Any) -> None:
    page = open_page()
    ask(page, "go")
    assert page.inner_text(".answer .text") == "".join(TEXTS)
    styles = page.evaluate(
        "() => ['d1', 'd2', 'd3'].map((kind) => {"
        " const style = getComputedStyle(document.querySelector(`.answer .drafted.${kind}`));"
        " return [style.textDecorationStyle, style.textDecorationColor]; })"
    )
    assert [line for line, _ in styles] == ["solid", "dashed", "double"]
    assert len({colour for _, colour in styles}) == 3
    assert page.locator(".answer .drafted").count() == 19
    assert page.inner_text("#live-legend").split("\n")[:3] == ["suffix", "ngram", "model"]


def test_live_panel_says_what_the_answer_did_and_why(open_page: Any) -> None:
    page = open_page()
    assert page.inner_text("#live-gain") == "1.41×"
    assert page.inner_text("#live-of") == "all requests, last minute"
    ask(page, "go")
    # 19 of the 22 drafted tokens that were judged, 34 tokens in 15 passes.
    assert page.inner_text("#live-alpha") == "0.86"
    assert page.inner_text("#live-pass") == "2.27"
    assert page.inner_text("#live-of") == "this answer"
    assert page.inner_text("#live-doing") == "Plain decoding: the most tokens for its time."
    assert page.locator("#live-strip rect").count() == 3 * 15
    page.click("#live-options summary")
    assert page.locator("#live-table tbody tr.best").inner_text().startswith("Plain decoding")


def test_tooltip_by_pointer_and_by_keyboard_with_one_tab_stop(open_page: Any) -> None:
    page = open_page()
    ask(page, "go")
    page.hover(".answer .drafted.d2")
    assert page.inner_text("#tip").split("\n") == [
        "␣comes", "drafted by ngram, accepted", "p = 0.900", "rank 1", "round 3",
    ]  # fmt: skip
    assert page.locator(".answer .tok[tabindex='0']").count() == 1
    page.locator(".answer .tok[tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.textContent") == TEXTS[2]
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "tip"
    assert page.locator(".answer .tok[tabindex='0']").count() == 1
    page.keyboard.press("End")
    assert "written by the target" in page.inner_text("#tip")
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def test_tooltip_by_touch(open_page: Any) -> None:
    page = open_page(has_touch=True, viewport={"width": 390, "height": 844})
    page.fill("#prompt", "go")
    page.tap("#send")
    page.wait_for_selector(".foot")
    page.tap(".answer .drafted.d3")
    assert "drafted by model" in page.inner_text("#tip")


def test_settings_and_the_conversation_are_sent(open_page: Any, server: SimpleNamespace) -> None:
    page = open_page()
    page.click("#chat .open-settings")
    assert page.is_disabled("#set-draft")
    page.select_option("#set-mode", "suffix")
    page.fill("#set-draft", "3")
    page.fill("#set-temperature", "0")
    page.fill("#set-seed", "7")
    page.keyboard.press("Enter")
    assert page.inner_text("#chat .settings-summary") == "suffix · temperature 0 · 256 tokens"
    ask(page, "one")
    page.fill("#prompt", "two")
    page.click("#send")
    page.wait_for_selector(".answer:nth-of-type(4) .foot")
    first, second = server.app.state.bodies
    assert first["speculation"] == {
        "mode": "suffix", "exactness": "coupled", "details": True, "draft_len": 3,
    }  # fmt: skip
    assert (first["temperature"], first["seed"], first["max_tokens"]) == (0, 7, 256)
    assert [m["role"] for m in second["messages"]] == ["user", "assistant", "user"]
    assert second["messages"][1]["content"] == "".join(TEXTS)
    page.click("#new-chat")
    assert page.locator("#log li").count() == 0
    assert page.is_visible("#welcome")


def test_enter_that_chooses_a_japanese_word_does_not_send(open_page: Any) -> None:
    page = open_page()
    page.fill("#prompt", "しお")
    page.evaluate(
        "document.getElementById('prompt').dispatchEvent(new KeyboardEvent('keydown',"
        " {key: 'Enter', isComposing: true, bubbles: true, cancelable: true}))"
    )
    assert page.locator("#log li").count() == 0
    assert page.input_value("#prompt") == "しお"


def test_markup_in_text_stays_text(open_page: Any) -> None:
    page = open_page()
    ask(page, "<img src=x onerror=alert(1)>")
    assert page.inner_text(".bubble") == "<img src=x onerror=alert(1)>"
    assert page.locator("main img").count() == 0


def test_everything_by_keyboard_alone(open_page: Any) -> None:
    page = open_page("")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in ("chat", "race", "step"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#step:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "step-title"
    page.go_back()
    page.wait_for_selector("#chat:not([hidden])")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".foot")
    assert page.locator(".answer .tok").count() == len(TEXTS)
