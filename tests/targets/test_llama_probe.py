"""A llama.cpp that crashes must never take this process with it."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("llama_cpp")

from foredraft.core.errors import ForedraftError
from foredraft.targets import llama_probe
from foredraft.targets.llama_probe import repacking_works, survives


class Attempts:
    """A build of which only some ways of loading survive."""

    def __init__(self, repacked, as_stored):
        self.works = {True: repacked, False: as_stored}
        self.made = []

    def __call__(self, repack):
        self.made.append(repack)
        return self.works[repack]


def test_this_build_survives_one_way_or_the_other():
    assert survives(True) or survives(False)


def test_a_good_build_is_tried_once(tmp_path, caplog):
    attempts, memory = Attempts(True, True), tmp_path / "made" / "llama_cpp.json"
    assert repacking_works(attempts, memory)
    assert repacking_works(attempts, memory)
    assert attempts.made == [True]
    assert not caplog.records


def test_a_crash_with_rearranged_weights_falls_back_and_warns_once(tmp_path, caplog):
    attempts, memory = Attempts(False, True), tmp_path / "llama_cpp.json"
    assert not repacking_works(attempts, memory)
    assert not repacking_works(attempts, memory)
    assert attempts.made == [True, False]
    assert len(caplog.records) == 1
    assert "CC=clang" in caplog.text


def test_a_build_that_crashes_either_way_is_one_sentence(tmp_path):
    memory = tmp_path / "llama_cpp.json"
    for attempts in (Attempts(False, False), Attempts(True, True)):
        with pytest.raises(ForedraftError, match="crashes on this machine") as raised:
            repacking_works(attempts, memory)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("what", ["_processor", "version"])
def test_another_processor_or_version_is_tried_anew(tmp_path, monkeypatch, what):
    memory = tmp_path / "llama_cpp.json"
    assert not repacking_works(Attempts(False, True), memory)
    monkeypatch.setattr(llama_probe, what, lambda *_: "another")
    assert repacking_works(Attempts(True, True), memory)
    assert len(json.loads(memory.read_text())) == 2


@pytest.mark.parametrize("content", ["", "[1]", '{"half'])
def test_a_damaged_memory_is_written_anew(tmp_path, content):
    memory = tmp_path / "llama_cpp.json"
    memory.write_text(content)
    assert repacking_works(Attempts(True, True), memory)
    assert list(json.loads(memory.read_text()).values()) == ["repacked"]


def test_a_memory_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "file").touch()
    assert repacking_works(Attempts(True, True), tmp_path / "file" / "llama_cpp.json")


@pytest.mark.parametrize("crash", ["os.kill(os.getpid(), signal.SIGSEGV)", "sys.exit(1)"])
def test_a_child_that_dies_is_noticed(monkeypatch, crash):
    """A real crash in a real process, put in the place of llama.cpp's."""
    run = subprocess.run

    def crashing(command, **rest):
        assert command[:2] == [sys.executable, "-m"]
        return run([sys.executable, "-c", f"import os, signal, sys; {crash}"], **rest)

    monkeypatch.setattr(llama_probe.subprocess, "run", crashing)
    assert not survives(True)


def test_a_child_that_hangs_is_ended(monkeypatch):
    def hanging(command, timeout, **rest):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(llama_probe.subprocess, "run", hanging)
    assert not survives(True)
