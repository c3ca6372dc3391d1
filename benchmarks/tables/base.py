"""What every table is made of: stored results, and Markdown."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "results"
Result = dict[str, Any]


def stored(name: str) -> Result:
    result: Result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return result


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text and all others are numbers."""
    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join([_line(head), rule, *map(_line, lines)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def number(value: float | None, digits: int = 2, unit: str = "") -> str:
    """A dash where nothing was measured."""
    return "–" if value is None else f"{value:.{digits}f}{unit}"


def times(ratio: float | None) -> str:
    return number(ratio, unit="x")
