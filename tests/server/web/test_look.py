"""Both languages, both themes, small and large screens, and what axe finds wrong with them."""

import re
from typing import Any

import pytest

from tests.server.web.test_chat import ask
from tests.server.web.test_race import race
from tests.server.web.test_step import module

NAMES = re.compile(r"\{\w+\}")
VIEWS = ("chat", "race", "step", "why")


def test_every_text_is_in_both_languages(open_page: Any) -> None:
    page = open_page()
    texts = page.evaluate(f"async () => (await import({module('i18n')})).TEXTS")
    en, ja = ({k: v for k, v in texts[name].items() if k[:5] != "said."} for name in ("en", "ja"))
    assert list(en) == list(ja)
    for key in en:
        assert sorted(NAMES.findall(en[key])) == sorted(NAMES.findall(ja[key])), key


def test_language_follows_the_browser_and_is_remembered(open_page: Any) -> None:
    page = open_page(locale="ja-JP")
    assert page.get_attribute("html", "lang") == "ja"
    assert page.inner_text("#send") == "送信"
    ask(page, "潮について")
    assert "毎秒" in page.inner_text(".foot")
    page.click("#language")
    assert page.get_attribute("html", "lang") == "en"
    assert page.inner_text("#send") == "Send"
    assert page.inner_text("#live-of") == "this answer"
    page.reload()
    assert page.inner_text("#send") == "Send"


def test_theme_follows_the_system_and_can_be_chosen(open_page: Any) -> None:
    page = open_page(color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    light = page.evaluate(background)
    assert light != dark
    assert page.get_attribute("#theme", "aria-label") == "Theme: light"
    page.reload()
    assert page.evaluate(background) == light


@pytest.mark.parametrize("locale", ["en-GB", "ja-JP"])
@pytest.mark.parametrize("width", [320, 390])
def test_nothing_is_wider_than_a_phone(open_page: Any, width: int, locale: str) -> None:
    page = open_page(locale=locale, viewport={"width": width, "height": 700})
    ask(page, "go")
    for view in VIEWS:
        page.click(f"#to-{view}")
        page.wait_for_selector(f"#{view}:not([hidden])")
        assert page.evaluate("document.documentElement.scrollWidth") == width, view


@pytest.mark.parametrize("locale", ["en-GB", "ja-JP"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_page: Any, theme: str, locale: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def faults(page: Any) -> list[Any]:
        options = {"resultTypes": ["violations"], "preload": False}
        found = axe.run(page, options=options).response["violations"]
        return [(fault["id"], fault["nodes"][0]["html"]) for fault in found]

    page = open_page(color_scheme=theme, locale=locale)
    ask(page, "go")
    page.fill("#prompt", "busy")
    page.click("#send")
    page.wait_for_selector(".notice")
    found = {"chat": faults(page)}
    page.click("#to-race")
    race(page, "differ")
    found["race"] = faults(page)
    for view in ("step", "why"):
        page.click(f"#to-{view}")
        found[view] = faults(page)
    page.click("#to-chat")
    page.click("#chat .open-settings")
    found["settings"] = faults(page)
    assert {view: listed for view, listed in found.items() if listed} == {}
