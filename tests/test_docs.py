"""The pages hold together: links lead somewhere, paths and figures they name are there."""

import re
from pathlib import Path

import pytest

from foredraft.engine.load import DRAFTERS
from foredraft.heads.kind import HeadKind

ROOT = Path(__file__).parent.parent
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
}
METHODS = {name: text for name, text in PAGES.items() if name.startswith("docs/methods/")}
TABLE = re.compile(r"^<!-- \w+.*?<!-- end -->$", re.DOTALL | re.MULTILINE)
"""What benchmarks/table.py writes."""
HOMES = ("", "src/foredraft", "benchmarks/results")
"""Folders that paths are told from."""
SECTIONS = ("When it pays", "What it costs", "How to get one", "Exactness", "Measured here")


CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
"""What only looks like links."""


def anchors(text: str) -> set[str]:
    """The fragments that GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def broken(page: str) -> list[str]:
    """The links of a page that lead nowhere in this project."""
    found = []
    for link in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", PAGES[page])):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent.joinpath(path).resolve()
        text = PAGES.get(str(target.relative_to(ROOT)) if path else page, "")
        if not target.exists() or (anchor and anchor not in anchors(text)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    assert broken(page) == []


def test_what_a_broken_link_is(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "[a](methods/nothing.md) [b](exactness.md#nothing) [c](#here)"
    right = "[`x`](exactness.md#exactness-levels) [y](../README.md) `[d](e)` [f](https://g.h)"
    itself = "# Z é `q.py`\n\n[z](#z-é-qpy)"
    monkeypatch.setitem(PAGES, "docs/made_up.md", f"{wrong}\n{right}\n\n{itself}")
    assert broken("docs/made_up.md") == ["methods/nothing.md", "exactness.md#nothing", "#here"]


def test_pages_named_in_code_are_there() -> None:
    named = {
        name
        for folder in ("src", "tests", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"\bdocs/[\w/]+\.md", path.read_text(encoding="utf-8"))
        if path != Path(__file__)
    }
    assert len(named) > 3
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_what_code_says_of_the_traversal_proof() -> None:
    source = (ROOT / "src/foredraft/core/accept.py").read_text(encoding="utf-8")
    assert 'docs/exactness.md, "Traversal"' in source
    assert "**Traversal**" in PAGES["docs/exactness.md"]


@pytest.mark.parametrize("page", METHODS)
def test_a_method_has_a_page_that_answers_the_same_questions(page: str) -> None:
    text = METHODS[page]
    assert len(TABLE.sub("", text).splitlines()) < 80
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert [title for title in SECTIONS if title not in titles] == []
    assert titles[-1] == "Sources"
    index = PAGES["docs/methods.md"]
    assert f"({Path(page).relative_to('docs')})" in index


@pytest.mark.parametrize("page", ["docs/methods.md", *METHODS])
def test_speeds_stand_in_tables_made_of_stored_results_alone(page: str) -> None:
    """tests/benchmarks/test_table.py holds the tables to the results."""
    assert re.findall(r"\d(?:\.\d+)?x\b|\b\d+(?:\.\d+)? ms\b", TABLE.sub("", PAGES[page])) == []


def test_every_drafter_has_a_page_and_every_head_is_in_one() -> None:
    pages = {Path(page).stem for page in METHODS}
    assert set(DRAFTERS) - {"none"} <= pages
    said = "".join(METHODS.values())
    assert [kind for kind in HeadKind if kind.value not in said] == []


@pytest.mark.parametrize("page", METHODS)
def test_paths_and_results_that_a_method_names_are_there(page: str) -> None:
    named = re.findall(r"`((?:tests|benchmarks|core|engine)/[\w/.]+|[\w-]+\.json)`", METHODS[page])
    known = {name for name in named for home in HOMES if (ROOT / home / name).exists()}
    assert [name for name in named if name not in known] == []
