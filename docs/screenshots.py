"""The pictures of the page in the READMEs: a real server, a real browser, docs/page-*.png.

Needs chromium and fonts for Japanese (apt install chromium fonts-noto-cjk), a model that writes
Japanese, and an otherwise idle machine: what the pictures show is measured while they are taken.

    python docs/screenshots.py [MODEL]
"""

import contextlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

DOCS = Path(__file__).parent
WIDE, PHONE = (1440, 900), (390, 844)
SETTLED_MS = 2500
"""After this the page has asked the server how it is once more."""


@contextlib.contextmanager
def server(model: str) -> Iterator[str]:
    """`foredraft serve` on a free port."""
    command = [sys.executable, "-c", "from foredraft.cli.main import main; main()"]
    running = subprocess.Popen(
        [*command, "serve", model, "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert running.stdout is not None
        said = running.stdout.readline()
        found = re.search(r"page is (http\S+/)\.", said)
        if found is None:
            sys.exit(f"The server did not start: {said}")
        yield found[1]
    finally:
        running.terminate()
        running.wait()


def opened(browser: Browser, url: str, language: str, theme: str, size: tuple[int, int]) -> Page:
    """The page, ready, greedy, and with a short answer ahead."""
    context = browser.new_context(
        locale={"en": "en-GB", "ja": "ja-JP"}[language],
        color_scheme="dark" if theme == "dark" else "light",
        viewport={"width": size[0], "height": size[1]},
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.goto(url)
    page.wait_for_selector("#model:not(:empty)")
    page.evaluate(
        "() => { document.getElementById('set-temperature').value = 0;"
        " document.getElementById('set-most').value = 96;"
        " document.getElementById('settings-form').dispatchEvent(new Event('input')); }"
    )
    return page


def chat(page: Page) -> None:
    page.locator(".example").first.click()
    page.wait_for_selector(".foot")
    page.wait_for_timeout(SETTLED_MS)
    page.evaluate("scrollTo(0, 0)")
    page.locator(".answer .drafted").first.hover()


def race(page: Page) -> None:
    page.click("#to-race")
    page.click("#race-start")
    page.wait_for_selector("#race-result:not([hidden])")
    page.wait_for_timeout(SETTLED_MS)
    page.evaluate("scrollTo(0, 0)")


def step(page: Page) -> None:
    """The round that drafted the most."""
    page.click("#to-step")
    page.locator("#what-result", has_text="γ = 2").wait_for()
    most = page.evaluate(
        "() => { const slider = document.getElementById('step-round'); let best = [0, 1];"
        " for (let i = 1; i <= slider.max; i += 1) { slider.value = i;"
        " slider.dispatchEvent(new Event('input'));"
        " const n = document.querySelectorAll('#step-draft .chip').length;"
        " if (n > best[0]) best = [n, i]; } return best[1]; }"
    )
    page.fill("#step-round", str(most))


def why(page: Page) -> None:
    page.click("#to-why")
    page.click("#why-mine")
    page.click("#toy-run")
    page.wait_for_timeout(4000)
    page.evaluate("scrollTo(0, 0)")


PICTURES = (
    ("en", "light", WIDE, (chat, race, step, why)),
    ("ja", "dark", WIDE, (chat, why)),
    ("en", "dark", PHONE, (race,)),
    ("ja", "light", PHONE, (chat,)),
)


def main() -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("There is no chromium to see the page with; install it (apt install chromium).")
    model = sys.argv[1] if len(sys.argv) > 1 else "qwen2.5-coder-1.5b"
    with server(model) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for language, theme, size, views in PICTURES:
            page = opened(browser, url, language, theme, size)
            where = "phone" if size == PHONE else "wide"
            for view in views:
                view(page)
                page.screenshot(path=DOCS / f"page-{view.__name__}-{where}-{language}.png")
            page.context.close()
        browser.close()


if __name__ == "__main__":
    main()
