"""What people and programs see of a generation."""

import json
import os
import shutil
import sys
import textwrap
from typing import TextIO

import typer

from foredraft.cli.summary import as_object, legend, line
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.engine.result import Result, Token

_NO_BREAK = "\N{NO-BREAK SPACE}"
# A model may write anything, escape sequences that take over the terminal included.
_CONTROLS = {i: None for i in (*range(32), *range(127, 160)) if chr(i) not in "\n\t"}


class Screen:
    """Text as it comes on standard output, notes on it on standard error.

    Colours and the removal of control characters are for terminals; with `as_json` standard
    output gets one object an answer instead.
    """

    def __init__(self, as_json: bool = False, no_color: bool = False) -> None:
        self._as_json = as_json
        self._clean = sys.stdout.isatty()
        self._colour_text = not no_color and takes_colour(sys.stdout)
        self._colour_notes = not no_color and takes_colour(sys.stderr)
        self._within = False

    def token(self, token: Token) -> None:
        """Show the text a token makes safe to show, at once."""
        if self._as_json or not token.text:
            return
        text = token.text.translate(_CONTROLS) if self._clean else token.text
        self._write(_green(text) if self._colour_text and token.from_draft else text)
        self._within = True

    def end(self) -> None:
        """Leave the cursor on a new line after an answer, whole or not."""
        if self._within:
            self._write("\n")
        self._within = False

    def report(self, result: Result, generator: Generator, request: Request) -> None:
        """The last line, or the object of --json."""
        if self._as_json:
            plain = not sys.stdout.encoding.lower().startswith("utf")
            made = as_object(result, generator, request)
            return self._write(json.dumps(made, ensure_ascii=plain, allow_nan=False) + "\n")
        width = shutil.get_terminal_size().columns if sys.stderr.isatty() else sys.maxsize
        # No-break spaces, so that the line is broken between its parts wherever they fit.
        parts = [
            part.replace(" ", _NO_BREAK) if len(part) < width - 2 else part
            for part in line(result, generator, request)
        ]
        text = textwrap.fill(f"{_NO_BREAK}· ".join(parts), width).replace(_NO_BREAK, " ")
        if self._colour_notes:
            before, drafted, after = text.partition(legend(result) or "\0")
            text = _dim(before) + _green(drafted) + _dim(after)
        print(text, file=sys.stderr)

    def note(self, text: str) -> None:
        """A line beside the conversation."""
        print(_dim(text) if self._colour_notes else text, file=sys.stderr)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def takes_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants colours; NO_COLOR and TERM=dumb do not."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def _green(text: str) -> str:
    return typer.style(text, fg=typer.colors.GREEN) if text else text


def _dim(text: str) -> str:
    return typer.style(text, dim=True) if text else text
