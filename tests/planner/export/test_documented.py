"""docs/settings.md: its table says what is exported."""

import re
from pathlib import Path

import pytest

from foredraft.planner.export import ENGINES, export
from foredraft.planner.lint import lint
from tests.planner.plans import plan

PAGE = (Path(__file__).parents[3] / "docs/settings.md").read_text(encoding="utf-8")
ROWS = {
    cells[0].strip("` "): [cell.strip() for cell in cells[1:]]
    for cells in (line.strip("|").split("|") for line in PAGE.splitlines() if line[:3] == "| `")
}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_table_is_true(engine: str) -> None:
    *drafters, versions = ROWS[engine]
    for drafter, cell in zip(("model", "ngram", "suffix"), drafters, strict=True):
        settings = export(plan(drafter), engine)
        assert settings.versions == versions
        assert all(said in settings.text for said in re.findall("`([^`]+)`", cell))
        assert (cell == "plain") is ("Plain settings" in settings.text)


def test_every_flag_that_is_said_to_stop_llama_cpp_is_found() -> None:
    (line,) = re.findall(r"- (`--draft`.+?)\n  stop", PAGE, re.DOTALL)
    for flag in re.findall("`([^`…]+)`", line):
        assert [finding.severity for finding in lint(f"llama-server {flag} 1")[1]] == ["error"]
