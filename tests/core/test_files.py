from pathlib import Path

import pytest

from foredraft.core.files import write_whole


def test_replaces_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    write_whole(path, "one")
    write_whole(path, b"two")
    assert path.read_text() == "two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()  # a file cannot take a folder's place
    with pytest.raises(OSError, match="folder"):
        write_whole(path, "text")
    assert list(tmp_path.iterdir()) == [path]
