"""Writes the measured tables into READMEs and docs/ from the stored runs; --check only compares.

python benchmarks/table.py [--check]

A table stands between `<!-- NAME WORDS -->` and `<!-- end -->`: NAME says which, WORDS of what.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

from tables import heads, lookups, passes, prices, readme, speeds, trained

ROOT = Path(__file__).parent.parent
TABLES: dict[str, Callable[[str], str]] = {
    "measured": readme.table,
    "speeds": speeds.table,
    "lengths": speeds.lengths,
    "control": speeds.control,
    "prices": prices.table,
    "lookups": lookups.table,
    "heads": heads.table,
    "passes": passes.table,
    "trained": trained.table,
}
MARKED = re.compile(rf"<!-- ({'|'.join(TABLES)})( [^>]*?)? -->\n.*?<!-- end -->", re.DOTALL)


def pages() -> list[Path]:
    return [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def written(text: str) -> str:
    """`text` with every table between its marks brought up to date."""
    return MARKED.sub(_filled, text)


def _filled(mark: re.Match[str]) -> str:
    name, words = mark[1], mark[2] or ""
    return f"<!-- {name}{words} -->\n\n{TABLES[name](words.strip())}\n\n<!-- end -->"


def main() -> None:
    stale = []
    for path in pages():
        text = path.read_text(encoding="utf-8")
        if written(text) != text:
            stale.append(str(path.relative_to(ROOT)))
            if "--check" not in sys.argv:
                path.write_text(written(text), encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"{', '.join(stale)} differ from benchmarks/results; run python {sys.argv[0]}")


if __name__ == "__main__":
    main()
