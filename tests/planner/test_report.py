import struct
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.planner.machine import versions
from foredraft.planner.plan import Plan
from foredraft.planner.report import check_place, write_report
from tests.planner.test_page import FULL
from tests.planner.test_plan import BEST, PLAN

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("plan", [PLAN, FULL, replace(PLAN, best=None, kinds={}, rows=())])
def test_a_picture_to_share(tmp_path: Path, plan: Plan) -> None:
    path = tmp_path / "plan.PNG"
    write_report(plan, path)
    content = path.read_bytes()
    assert content[:8] == PNG
    assert struct.unpack(">II", content[16:24]) == (1800, 945)


def test_names_in_a_picture_are_no_mathematics_and_may_be_long(tmp_path: Path) -> None:
    best = replace(BEST, draft="$\\frac" + "x" * 300)
    plan = replace(PLAN, best=best, rows=(best,), target="a$b^$" * 60)
    write_report(plan, tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 10_000


def test_a_page_to_share(tmp_path: Path) -> None:
    write_report(PLAN, tmp_path / "plan.html")
    content = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert content.startswith("<!doctype html>")
    assert "Measured on today, foredraft." in content


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("plan.pdf", "name a file that ends in .html or .png"),
        ("plan", "name a file that ends in .html or .png"),
        ("nowhere/plan.html", "There is no folder"),
    ],
)
def test_another_place_is_refused_beforehand(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(ForedraftError, match=says):
        check_place(tmp_path / name)


def test_a_picture_needs_matplotlib_and_a_page_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    check_place(tmp_path / "plan.html")
    with pytest.raises(ForedraftError, match=r"pip install 'foredraft\[plot\]'"):
        check_place(tmp_path / "plan.png")


def test_what_cannot_be_written_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "plan.html").mkdir()
    with pytest.raises(ForedraftError, match="cannot be written"):
        write_report(PLAN, tmp_path / "plan.html")
    assert [path.name for path in tmp_path.iterdir()] == ["plan.html"]


def test_versions_are_those_of_the_engine() -> None:
    assert versions("torch").startswith("foredraft ")
    assert "Python 3." in versions("llama.cpp")
    assert "transformers" in versions("torch")
    assert "transformers" not in versions("llama.cpp")
