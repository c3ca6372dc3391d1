"""A real browser, and a server of recorded answers on a free port."""

import shutil
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium to see the page with; install it (apt install chromium)")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def served() -> Iterator[SimpleNamespace]:
    """A fake server: its `url`, its `app`."""
    uvicorn = pytest.importorskip("uvicorn", reason="the server extra is not installed")
    from tests.server.web.fake import fake

    app = fake()
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield SimpleNamespace(url=f"http://127.0.0.1:{port}/", app=app)
    server.should_exit = True
    thread.join(5)


@pytest.fixture
def server(served: SimpleNamespace) -> SimpleNamespace:
    """The fake server with nothing remembered."""
    served.app.state.key, served.app.state.mended = None, False
    served.app.state.bodies.clear()
    served.app.state.replays.clear()
    return served


USUAL = {"locale": "en-GB", "reduced_motion": "reduce"}


@pytest.fixture(scope="session")
def usual(browser: Any) -> Any:
    """One context for all tests that ask for nothing special: it keeps the page's files."""
    return browser.new_context(**USUAL)


@pytest.fixture
def open_page(browser: Any, usual: Any, server: SimpleNamespace) -> Iterator[Any]:
    """Opens the page at a view; an error on its console or a request to elsewhere fails it."""
    contexts: list[Any] = []
    pages: list[Any] = []
    wrong: list[str] = []

    def opened(view: str = "#chat", address: str = "", **options: Any) -> Any:
        context = usual
        if options:
            context = browser.new_context(**USUAL | options)
            contexts.append(context)
        page = context.new_page()
        pages.append(page)
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        page.on("request", lambda r: r.url.startswith(address or server.url) or wrong.append(r.url))
        page.goto(f"{address or server.url}{view}")
        page.wait_for_selector("#model:not(:empty)", state="attached")
        return page

    yield opened
    for page in pages:
        page.evaluate("localStorage.clear()")
        page.close()
    for context in contexts:
        context.close()
    assert [text for text in wrong if "Failed to load resource" not in text] == []
