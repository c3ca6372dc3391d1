"""`foredraft check`: what a person and a program see, and the exit status."""

import json

import pytest

from tests.planner.facts import models


@pytest.fixture
def pair(tmp_path):
    target = models.gguf(tmp_path / "big.gguf")
    return str(target), str(models.gguf(tmp_path / "small.gguf", numbers={"context_length": 128}))


@pytest.fixture
def head(tmp_path):
    """A folder that no engine can draft with."""
    folder = models.folder(tmp_path / "head", tokens=None, medusa_num_heads=4)
    return str(folder)


def test_a_pair(call, pair, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    done = call("check", *pair)
    assert (done.status, done.err) == (0, "")
    lines = [line.strip() for line in done.out.splitlines()]
    assert lines[0].startswith(f"Target  {pair[0]}  (GGUF, llama, 300 tokens, made for 256")
    for engine, word in (
        ("foredraft", "yes"),
        ("llama.cpp", "with a setting"),
        ("LM Studio", "yes"),
        ("Ollama", "no"),
        ("vLLM", "with a setting"),
        ("Transformers", "with a setting"),
    ):
        assert any(line.split("  ")[0] == engine and f" {word}  " in line for line in lines)
    assert "--spec-type draft-simple" in done.out
    assert "Tokenizers: All 300 shared token ids stand for the same text." in lines
    assert "the same: merges, special tokens, BOS at the start." in lines
    assert any(line.startswith("Memory at 128 tokens: target 0 MB + 0 MB") for line in lines)
    assert "\x1b" not in done.out


def test_json(call, pair):
    done = call("check", *pair, "--json", "--context", "64")
    assert (done.status, done.err) == (0, "")
    made = json.loads(done.out)
    assert made["target"] == pair[0]
    assert made["engines"]["foredraft"]["verdict"] == "yes"
    assert made["memory"]["context"] == 64


def test_other_tokens(call, pair, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    tokens = ["[bold]", *models.TOKENS[1:]]
    other = models.gguf(tmp_path / "other.gguf", tokens=tokens)
    done = call("check", pair[0], str(other))
    assert "Token 0 is 't0' in the target and '[bold]' in the draft" in done.out


def test_none_can(call, pair, head):
    done = call("check", pair[0], head, "--json")
    assert (done.status, done.err) == (1, "")
    assert {ruling["verdict"] for ruling in json.loads(done.out)["engines"].values()} == {"no"}
    assert call("check", pair[0], head).status == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "TARGET"),
        (["gpt-7", "smollm2"], "No model is called 'gpt-7'"),
        (["./no.gguf", "smollm2"], "There is no file or folder ./no.gguf"),
        (["a", "b", "--context", "0"], "--context"),
        (["ftp://host/m.gguf", "smollm2"], "There is no file or folder ftp://host/m.gguf"),
    ],
)
def test_bad_input(refuse, arguments, says):
    refuse("check", *arguments, says=says)


def test_a_head_is_no_target(refuse, pair, head):
    refuse("check", head, pair[0], says="is a Medusa head, not a model by itself")


def test_two_gguf_files_are_checked_without_torch(pair):
    import subprocess
    import sys

    script = f"""
import sys
from foredraft.cli.main import main
assert main(["check", "--json", *{pair!r}]) == 0
assert not {{"torch", "transformers"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
