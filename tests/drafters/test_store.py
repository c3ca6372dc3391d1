"""The store: bounded, shared by threads, and whole in its file whatever happens to the process."""

import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest

from foredraft.core.errors import ForedraftError
from foredraft.drafters.store import SuffixStore

WRITER = """
import sys
from pathlib import Path
from foredraft.drafters.store import SuffixStore

store = SuffixStore(path=Path(sys.argv[1]))
print("ready", flush=True)
for number in range(1_000_000):
    store.add([number] * 400)
"""


def test_the_oldest_leave_first_and_leave_no_trace():
    store = SuffixStore(capacity=10)
    for start in (0, 10, 20):
        store.add(range(start, start + 5))
    assert len(store) == 10
    assert store.after([0, 1], 9) == []
    assert store.after([10, 11], 9) == [(2, [12, 13, 14])]
    store.add(range(100, 200))
    assert len(store) == 10
    assert store.after([100], 99) == [(1, list(range(101, 110)))]
    for _ in range(50):
        store.add([])
    assert len(store) == 10


def test_a_capacity_of_nothing_is_refused():
    with pytest.raises(ForedraftError, match="capacity"):
        SuffixStore(0)


def test_memory_is_bounded_by_the_capacity():
    store = SuffixStore(capacity=20_000)

    def fill(seed):
        rng = np.random.default_rng(seed)
        for _ in range(200):
            store.add(rng.integers(0, 50_000, 200).tolist())

    tracemalloc.start()
    fill(0)
    after_one, _ = tracemalloc.get_traced_memory()
    for seed in range(1, 5):
        fill(seed)
    after_five, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after_five < 1.5 * after_one
    assert after_one / 20_000 < 1_000, "bytes a token"


def test_threads_share_a_store(tmp_path):
    """Readers see whole outputs only, writers lose none that fits."""
    store = SuffixStore(capacity=2_000, path=tmp_path / "answers")
    wrong = []

    def write(number):
        for i in range(60):
            start = 1_000_000 * (number + 1) + 1_000 * i
            store.add(range(start, start + 50))

    def read():
        for i in range(2_000):
            start = 1_000_000 * (i % 4 + 1) + 1_000 * (i % 60)
            for agreed, after in store.after([start, start + 1], 99):
                if (agreed, after) != (2, list(range(start + 2, start + 50))):
                    wrong.append(after)

    work = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    work += [threading.Thread(target=read) for _ in range(4)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert wrong == []
    assert len(store) == 2_000
    again = SuffixStore(path=tmp_path / "answers")
    assert len(again) == 2_000
    assert again._places.tokens[-51:] == store._places.tokens[-51:]


def test_a_store_survives_a_restart(tmp_path):
    path = tmp_path / "answers"
    store = SuffixStore(path=path, vocabulary=[1, 2])
    store.add([1, 2, 3, 4])
    store.add([5, 6, 7, 8, 9])
    again = SuffixStore(path=path, vocabulary=[1, 2])
    assert again.after([2, 3], 9) == [(2, [4])]
    smaller = SuffixStore(capacity=8, path=path, vocabulary=[1, 2])
    assert smaller.after([1], 9) == [], "the capacity holds here too"
    assert smaller.after([5], 9) == [(1, [6, 7, 8, 9])]
    assert [p.name for p in tmp_path.iterdir()] == ["answers"]


def test_whatever_moment_the_process_is_killed_the_file_is_whole(tmp_path):
    path, kept = tmp_path / "answers", 0
    for turn in range(8):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout.readline() == "ready\n"
        time.sleep(0.05 + 0.017 * turn)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        store = SuffixStore(path=path)
        assert len(store) % 400 == 0
        assert len(store) >= kept, "what was saved before is still there"
        kept = min(len(store), 1 << 17)
    assert kept > 0


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04cut"])
def test_a_file_that_is_no_store(tmp_path, content):
    path = tmp_path / "answers"
    path.write_bytes(content)
    with pytest.raises(ForedraftError, match="does not hold foredraft's answers"):
        SuffixStore(path=path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("tokens", [[1, 2], [1, -7, -1], [[1, -1]], [0.5, -1], "text"])
def test_tokens_that_are_none(tmp_path, tokens):
    with open(tmp_path / "answers", "wb") as file:
        np.savez(file, format=1, vocabulary=np.array([], dtype=np.int32), tokens=tokens)
    with pytest.raises(ForedraftError, match="does not hold foredraft's answers"):
        SuffixStore(path=tmp_path / "answers")


def test_a_file_cut_short(tmp_path):
    path = tmp_path / "answers"
    SuffixStore(path=path).add(list(range(1000)))
    whole = path.read_bytes()
    for size in range(1, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(ForedraftError, match="damaged"):
            SuffixStore(path=path)


def test_a_newer_version_wrote_it(tmp_path):
    with open(tmp_path / "answers", "wb") as file:
        np.savez(file, format=2, vocabulary=[], more=[1])
    with pytest.raises(ForedraftError, match=r"newer foredraft \(format 2.*update foredraft"):
        SuffixStore(path=tmp_path / "answers")


def test_another_tokenizer_wrote_it(tmp_path):
    SuffixStore(path=tmp_path / "answers", vocabulary=[1, 2]).add([3])
    with pytest.raises(ForedraftError, match="another tokenizer"):
        SuffixStore(path=tmp_path / "answers", vocabulary=[1, 3])


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ForedraftError, match="choose another file for --store"):
        SuffixStore(path=tmp_path / "none" / "answers")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ForedraftError, match="choose another file for --store"):
        SuffixStore(path=tmp_path / "answers")


def test_a_path_that_cannot_be_replaced(tmp_path):
    store = SuffixStore(path=tmp_path / "answers")
    (tmp_path / "answers").mkdir()
    with pytest.raises(ForedraftError, match="could not be written"):
        store.add([1, 2])
    assert len(store) == 2
