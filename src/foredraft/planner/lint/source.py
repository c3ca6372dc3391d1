"""A command, script or configuration file as words, flags and objects."""

import ast
import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

_CONTINUED = re.compile(r"[\\`^]\r?\n")
_COMMENT = re.compile(r"\s#.*")
_COMMENT_LINE = re.compile(r"^[ \t]*#.*", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_ENVIRONMENT = re.compile(r"([A-Z][A-Z0-9]*_[A-Z0-9_]+)[=:](.*)", re.DOTALL)
_NUMBER = re.compile(r"-?[\d.]+")


def settings_of(text: str) -> str:
    """`text` without the lines that are comments, and of Markdown the code alone; Python's own
    comments hurt nobody."""
    text = "\n".join(_FENCED.findall(text)) or text
    return _COMMENT_LINE.sub("", text)


def words(text: str) -> list[str]:
    """The words a shell would see; also those of a command that YAML lists or nests."""
    text = _COMMENT.sub("", _CONTINUED.sub(" ", text))
    try:
        found = shlex.split(text)
    except ValueError:  # an apostrophe in prose
        found = text.replace('"', " ").replace("'", " ").split()
    stripped = (word if word.startswith("{") else word.strip("[],") for word in found)
    return [word for word in stripped if word not in ("", "-")]


@dataclass(frozen=True, slots=True)
class Flags:
    """A command's flags and environment settings with their values; the last of a name counts."""

    given: dict[str, str]

    def first(self, *names: str) -> str:
        """The first of `names` that is given, as it would be written; "" if none is."""
        for name in names:
            if name in self.given:
                return f"{name} {self.given[name]}".rstrip()
        return ""

    def value(self, *names: str) -> str | None:
        """What the first given of `names` is set to."""
        return next((self.given[name] for name in names if name in self.given), None)

    def number(self, *names: str, default: float) -> float:
        """The same as a number; `default` where none is given."""
        value = self.value(*names)
        return float(value) if value and _NUMBER.fullmatch(value) else default


def flags(text: str) -> Flags:
    """The flags of a command in `text`, `--a_b` as `--a-b`, and NAME=value before or above it."""
    found, left = dict[str, str](), words(text)
    while left:
        word = left.pop(0)
        if environment := _ENVIRONMENT.fullmatch(word):
            name, value = environment.groups()
            found[name] = value or (left.pop(0) if left else "")
        elif word.startswith("-") and not _NUMBER.fullmatch(word):
            name, _, value = word.partition("=")
            takes = not value and bool(left) and _is_value(left[0])
            found[_flag(name)] = left.pop(0) if takes else value
    return Flags(found)


def objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects and Python dictionaries in `text`, outermost only."""
    for written in (" ".join(words(text)), text):
        found, start = list[dict[str, Any]](), 0
        while (start := written.find("{", start)) >= 0:
            end = _closing(written, start)
            value = _literal(written[start:end])
            found += [value] if value else []
            start = end if value else start + 1
        if found:
            return found
    return []


def nested(text: str, name: str) -> list[dict[str, Any]]:
    """The keys under `name:` in YAML, one level deep, for each place where it stands."""
    spelling = name.replace("_", "[-_]")
    blocks = re.findall(
        rf"^([ \t]*)[\"']?{spelling}[\"']?:[ \t]*\n((?:\1[ \t]+\S.*\n?)+)", text, re.MULTILINE
    )
    return [
        {
            as_key(key): scalar(value)
            for key, _, value in (line.partition(":") for line in body.splitlines())
        }
        for _, body in blocks
    ]


def as_key(name: object) -> str:
    """A key as it is in JSON: without quotes, words joined by underscores."""
    return str(name).strip(" \t\"'").replace("-", "_")


def scalar(text: str) -> Any:
    """A value of YAML or of a command: JSON where it is that, else the text."""
    text = text.partition(" #")[0].strip()
    try:
        return json.loads(text)
    except ValueError:
        return text.strip("'\"")


def number(text: str, name: str) -> float | None:
    """The number that `name` is set to anywhere in `text`, by any punctuation."""
    spelling = name.replace("_", "[-_]")
    found = re.search(rf"\b{spelling}[\"']?\s*[:=\s]\s*(-?\d+\.?\d*)", text)
    return float(found[1]) if found else None


def _is_value(word: str) -> bool:
    return not word.startswith("-") or _NUMBER.fullmatch(word) is not None


def _flag(name: str) -> str:
    return name.replace("_", "-") if name.startswith("--") else name


def _closing(text: str, start: int) -> int:
    """Behind the brace that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return place + 1
    return len(text)


def _literal(text: str) -> dict[str, Any] | None:
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text)
        except (ValueError, SyntaxError):
            continue
        if isinstance(value, dict):
            return value
    return None
