"""The page on the real server, with the parrot for a model."""

from typing import Any

from tests.cli.parrot import SAYS
from tests.server.conftest import parrot
from tests.server.serving import serving
from tests.server.web.test_chat import ask
from tests.server.web.test_race import race


def test_every_view_understands_the_real_server(open_page: Any) -> None:
    with serving(parrot()) as real:
        page = open_page("#chat", address=f"{real.url}/")
        page.click("#chat .open-settings")
        page.select_option("#set-mode", "ngram")
        page.fill("#set-draft", "5")
        page.keyboard.press("Enter")
        ask(page, "hello")
        assert page.text_content(".answer .text") == SAYS
        assert page.locator(".answer .drafted").count() > 0
        page.hover(".answer .drafted >> nth=0")
        tip = page.inner_text("#tip")
        assert "drafted by ngram" in tip
        assert "rank 1" in tip
        assert "p = " in tip
        page.click(".foot a")
        page.get_by_text("γ = 2 in every round").wait_for()
        page.click("#to-race")
        race(page, "hello")
        assert page.inner_text("#race-same") == "Both texts are the same, token for token."
        assert page.locator("#race-off-text .drafted").count() == 0
        page.click("#to-why")
        page.locator("#why-machine", has_text="Measured: α ").wait_for()
        assert page.locator(".notice").count() == 0
