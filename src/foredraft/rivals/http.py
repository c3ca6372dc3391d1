"""HTTP to a server, with every failure as one sentence."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from foredraft.core.errors import ForedraftError

if TYPE_CHECKING:
    import httpx2

CONNECT_S = 10.0
_SAID = 200
"""Characters of a server's own words that are quoted."""


def client(url: str, api_key: str | None, timeout: float) -> "httpx2.Client":
    """A client for the server whose root is `url`; `timeout` bounds each wait for its next word."""
    try:
        import httpx2
    except ImportError:
        raise ForedraftError(
            "Asking a server needs httpx2; install it with: pip install 'foredraft[bench]'."
        ) from None
    if api_key and not (api_key.isascii() and api_key.isprintable()):
        raise ForedraftError("--api-key has characters that no key has; copy it once more.")
    with plainly(url, timeout):
        return httpx2.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx2.Timeout(timeout, connect=min(CONNECT_S, timeout)),
        )


def root(url: str) -> str:
    """A server's address as people write it, without /v1 and what follows it."""
    url = url if "://" in url else f"http://{url}"
    bare = re.sub(r"/v1(/(chat/completions|models)?)?/*$|/+$", "", url)
    if not re.fullmatch(r"https?://[^/\s]+(/\S*)?", bare):
        raise ForedraftError(
            f"{url} is not a server's address; write one such as http://localhost:8080."
        )
    return bare


@contextmanager
def plainly(url: str, timeout: float) -> Iterator[None]:
    """Says in one sentence what was wrong with talking to `url`."""
    import httpx2

    try:
        yield
    except httpx2.ConnectTimeout as error:
        raise ForedraftError(
            f"Nothing answers at {url} within {min(CONNECT_S, timeout):g} s; check the address."
        ) from error
    except httpx2.TimeoutException as error:
        raise silent(url, timeout) from error
    except httpx2.ConnectError as error:
        raise ForedraftError(
            f"Nothing answers at {url} ({re.sub(r'^.Errno -?[0-9]+. ', '', said(str(error)))}); "
            "start the server or check the address."
        ) from error
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise ForedraftError(
            f"{url} is not a server's address ({said(str(error))}); write one such as "
            "http://localhost:8080."
        ) from error
    except httpx2.HTTPError as error:
        raise ForedraftError(
            f"{url} broke off ({said(str(error))}); see why in the server's log."
        ) from error


def silent(url: str, timeout: float) -> ForedraftError:
    """The error for a server that keeps one waiting."""
    return ForedraftError(
        f"{url} sent nothing for {timeout:g} s; raise --timeout if it needs longer."
    )


def check(response: "httpx2.Response", url: str) -> None:
    """ForedraftError for a status that says no, with the server's reason."""
    status = response.status_code
    if status < 300:
        return
    response.read()
    reason = f"{status} {reason_of(response.text) or response.reason_phrase}".strip()
    if status in (401, 403):
        raise ForedraftError(f"{url} wants a key ({reason}); give it with --api-key.")
    if status == 404:
        raise ForedraftError(
            f"{url} does not have {response.request.url.path} ({reason}); give the root of an "
            "OpenAI-compatible server and, with --model, a name that it serves."
        )
    if status == 503:
        raise ForedraftError(f"{url} is not ready ({reason}); try again once it is.")
    raise ForedraftError(f"{url} refused the request ({reason}); see the server's log.")


def parsed(text: str, url: str) -> dict[str, Any]:
    """The JSON object in `text`; ForedraftError for anything else, or if it reports an error."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ForedraftError(
            f"{url} sent {said(text)!r} where JSON was due; is it an OpenAI-compatible server?"
        )
    if reason := reason_of(text):
        raise ForedraftError(f"{url} reports an error ({reason}); see the server's log.")
    return value


def reason_of(body: str) -> str | None:
    """The message in a server's error, whatever form it has; None if `body` holds none."""
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return None
    message = error.get("message") if isinstance(error, dict) else error
    return said(str(message or error)) if error else None


def said(words: str) -> str:
    """A server's words on one line, short, and harmless to a terminal."""
    line = "".join(c if c.isprintable() else " " for c in " ".join(words.split()))
    return line if len(line) <= _SAID else f"{line[:_SAID]}…"
