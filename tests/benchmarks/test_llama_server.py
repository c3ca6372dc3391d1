"""llama-server's answers are read rightly, and its death is one clear sentence."""

import stat
from pathlib import Path

import pytest

from engines.base import Ask, EngineError
from engines.llama_server import Servers, read

TIMINGS = {"predicted_n": 21, "predicted_ms": 2000.0, "prompt_ms": 300.0}


def program(folder: Path, script: str) -> str:
    """A stand-in for llama-server."""
    path = folder / "llama-server"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def ask(binary: str) -> None:
    servers = Servers(binary, Path("target.gguf"), None, threads=1)
    try:
        next(servers.methods()).run(Ask([1, 2], 4))
    finally:
        servers.close()


def test_the_first_token_belongs_to_the_prompt():
    run = read("plain", {"timings": TIMINGS, "tokens": list(range(21))})
    assert run.tokens_per_s == 10.0
    assert run.first_s == 0.3
    assert run.tokens_per_pass == 1.0


def test_passes_are_counted_from_the_accepted_tokens():
    timings = TIMINGS | {"draft_n": 30, "draft_n_accepted": 15}
    run = read("draft-simple 3", {"timings": timings, "tokens": []})
    assert run.tokens_per_pass == 4.0
    assert run.acceptance_rate is None  # it says how many were drafted, not how many were judged
    assert run.details == {"drafted": 30, "accepted": 15}


def test_a_server_that_ends_is_one_sentence_with_its_last_words(tmp_path):
    binary = program(tmp_path, "echo loading; echo error: cannot open the model >&2; exit 3")
    with pytest.raises(EngineError) as caught:
        ask(binary)
    text = str(caught.value)
    assert "llama-server (plain) ended with code 3" in text
    assert text.endswith("error: cannot open the model")
    assert "\n" not in text


def test_a_missing_program_names_the_script_that_builds_it(tmp_path):
    with pytest.raises(EngineError, match=r"cannot be started .*llama_server\.sh"):
        ask(str(tmp_path / "nothing"))


def test_an_answer_without_timings_is_an_error():
    with pytest.raises(EngineError, match="answered without 'timings'"):
        read("plain", {"content": "?"})


def test_without_a_draft_model_no_method_needs_one():
    names = [m.name for m in Servers("x", Path("t.gguf"), None, 1).methods()]
    assert "plain" in names
    assert not any("draft" in name for name in names)
