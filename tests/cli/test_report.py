"""`foredraft report` on a stored plan."""

import pytest

from tests.planner.test_page import FULL

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def stored(tmp_path):
    FULL.write(tmp_path / "plan.json")
    return tmp_path


def test_a_stored_plan_becomes_a_page_and_a_picture(stored, call):
    for name in ("plan.html", "plan.png"):
        done = call("report", str(stored / "plan.json"), str(stored / name))
        assert (done.status, done.out) == (0, f"Wrote {stored / name}.\n")
    assert "Measure longer" in (stored / "plan.html").read_text(encoding="utf-8")
    assert (stored / "plan.png").read_bytes()[:8] == PNG


def test_what_no_report_can_be_made_of_is_refused(stored, refuse):
    plan = str(stored / "plan.json")
    refuse("report", plan, str(stored / "a.pdf"), says="ends in .html or .png")
    refuse("report", plan, str(stored / "no" / "a.html"), says="There is no folder")
    refuse("report", str(stored / "none.json"), "a.html", says="cannot be read")
    (stored / "other.json").write_text("[1]")
    refuse("report", str(stored / "other.json"), str(stored / "a.html"), says="is not a plan")
    assert not (stored / "a.html").exists()
