"""What is served at `/` and under `/assets`, and with which headers."""

import re
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest


def get(url: str, **headers: str) -> tuple[int, dict[str, str], str]:
    with urlopen(Request(url, headers={k.replace("_", "-"): v for k, v in headers.items()})) as got:
        return got.status, dict(got.headers), got.read().decode()


def test_policy_allows_nothing_from_elsewhere_and_nothing_inline(server: SimpleNamespace) -> None:
    _, headers, html = get(server.url)
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<style|style=|onclick|https?://", html)
    assert not re.search(r"<script(?![^>]* src=)", html)


def test_assets_are_kept_for_good_and_the_page_is_asked_for_again(server: SimpleNamespace) -> None:
    _, headers, html = get(server.url)
    assert headers["cache-control"] == "no-cache"
    with pytest.raises(HTTPError) as unchanged:
        get(server.url, If_None_Match=headers["etag"])
    assert unchanged.value.code == 304
    for path in re.findall(r'(?:href|src)="(assets/[^"]+)"', html):
        _, headers, _ = get(server.url + path)
        assert "immutable" in headers["cache-control"], path
    assert headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path", ["assets/old/main.js", "assets/{v}/index.html", "assets/{v}/no.js"]
)
def test_nothing_else_is_served(server: SimpleNamespace, path: str) -> None:
    version = re.findall(r"assets/(\w+)/", get(server.url)[2])[0]
    with pytest.raises(HTTPError) as refused:
        get(server.url + path.format(v=version))
    assert refused.value.code == 404
