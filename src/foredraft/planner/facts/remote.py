"""A file on a web server, read from its start and no further than needed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from foredraft.core.errors import ForedraftError

_PATIENCE_S = 30.0
_MISSING = {401: "asks for a login", 403: "forbids it", 404: "has no such file"}


def is_url(name: str) -> bool:
    return name.startswith(("http://", "https://"))


class WebFile:
    """Reads by range requests. A server that ignores them sends the whole file: its answer is
    read as far as asked and then dropped, so that the rest is never fetched."""

    def __init__(self, url: str) -> None:
        self.size: int | None = None
        self._url = url
        self._at = 0
        self._whole: HTTPResponse | None = None

    def read(self, count: int) -> bytes:
        """The next `count` bytes, fewer only where the file ends."""
        if self.size is not None and self._at >= self.size:
            return b""
        with _explained(self._url):
            data = self._asked(count) if self._whole is None else self._whole.read(count)
        self._at += len(data)
        return data

    def close(self) -> None:
        if self._whole is not None:
            self._whole.close()

    def _asked(self, count: int) -> bytes:
        span = {"Range": f"bytes={self._at}-{self._at + count - 1}"}
        answer: HTTPResponse = urlopen(Request(self._url, headers=span), timeout=_PATIENCE_S)
        if answer.status != 206:
            if self._at:
                raise HTTPException("it stopped answering range requests")
            self._whole = answer
            length = answer.headers.get("Content-Length")
            self.size = int(length) if length else None
            return answer.read(count)
        with answer:
            found = re.fullmatch(
                r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", "")
            )
            if found is None or int(found[1]) != self._at:
                raise HTTPException("it answers range requests with another part of the file")
            self.size = None if found[2] == "*" else int(found[2])
            return answer.read(count)


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """A web server's many failures as sentences."""
    try:
        yield
    except HTTPError as error:
        said = _MISSING.get(error.code, f"answers {error.code} {error.reason}")
        raise ForedraftError(
            f"{url} cannot be read: the server {said}; check the address in a browser."
        ) from error
    except (OSError, HTTPException, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise ForedraftError(
            f"{url} cannot be read ({getattr(why, 'strerror', None) or why}); check the address "
            "and the network."
        ) from error
