"""Models that cannot be loaded or paired: the real loader, on files made here."""

import struct

import pytest

pytest.importorskip("torch")

from tests.cli.parrot import Parrot


def gguf(path, architecture, tensors=0):
    """A GGUF file with no more than its architecture, and the promise of `tensors` tensors."""
    name, value = b"general.architecture", architecture.encode()
    field = struct.pack("<Q", len(name)) + name + struct.pack("<IQ", 8, len(value)) + value
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, tensors, 1) + field)
    return path


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gpt-7", "No model is called 'gpt-7'; name one of smollm2, "),
        ("./no/such.gguf", "no file or folder ./no/such.gguf"),
    ],
)
def test_what_does_not_exist(refuse, name, says):
    refuse("run", "hello", "--model", name, says=says)
    refuse("chat", "--model", name, says=says)


def test_files_that_cannot_be_read(refuse, tmp_path, monkeypatch):
    monkeypatch.setenv("FOREDRAFT_CACHE", str(tmp_path / "cache"))
    text = tmp_path / "text.gguf"
    text.write_text("once upon a time")
    empty = tmp_path / "empty.gguf"
    empty.touch()
    cut = gguf(tmp_path / "cut.gguf", "llama", tensors=290)
    foreign = gguf(tmp_path / "foreign.gguf", "abacus")
    for file, says in (
        (text, "is not a GGUF file"),
        (empty, "is not a GGUF file"),
        (cut, "cut short or damaged"),
        (foreign, "'abacus'"),
        (tmp_path, str(tmp_path)),
    ):
        refuse("run", "hello", "--model", str(file), says=says)


def test_a_draft_with_another_vocabulary(refuse, monkeypatch):
    def load(self, name, *_):
        target = Parrot()
        target.name = name
        target.tokenizer.same_as = lambda other: "Token 0 differs."
        return target

    monkeypatch.setattr("foredraft.engine.load.is_head", lambda *_: False)
    monkeypatch.setattr("foredraft.engine.load.Placement.engine", lambda *_: "torch")
    monkeypatch.setattr("foredraft.engine.load.Placement.load", load)
    pair = ["--model", "large", "--draft-model", "small"]
    refuse("run", "hello", *pair, says="small cannot draft for large: Token 0 differs.")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--drafter", "oracle"], "choose one of auto, ngram, suffix, model, none"),
        (["--drafter", "model"], "--draft-model"),
        (["--drafter", "ngram", "--draft-model", "small"], "--draft-model"),
        (["--drafter", "ngram", "--store", "mine"], "--drafter ngram does not draft from earlier"),
        (["--drafter", "none", "--store", "mine"], "use --drafter auto or suffix"),
        (["--dtype", "int3"], "Unknown dtype 'int3'"),
        (["--device", "abacus"], "Unknown device 'abacus'"),
        (["--threads", "0"], "threads is 0"),
    ],
)
def test_settings_that_the_loader_refuses(refuse, arguments, says):
    refuse("run", "hello", *arguments, says=says)
