from pathlib import Path

import pytest

from foredraft.planner.history import Outcome, keep, past

ONE = Outcome("big", "torch", "model", "small", 3, predicted=1.5, measured=1.2)


def test_outcomes_are_kept_and_found_by_target_and_engine(tmp_path: Path) -> None:
    file = tmp_path / "new" / "plans.jsonl"
    assert past(file, "big", "torch") == []
    keep(file, ONE)
    keep(file, ONE)
    assert past(file, "big", "torch") == [ONE, ONE]
    assert past(file, "big", "llama.cpp") == []
    assert ONE.error == pytest.approx(0.25)


def test_a_damaged_file_is_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "plans.jsonl"
    file.write_text("nonsense\n")
    assert past(file, "big", "torch") == []
    keep(file, ONE)
    assert past(file, "big", "torch") == [ONE]
