"""Vocabularies of GGUF headers and of tokenizer.json are those of the engine's own tokenizer."""

import json
from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from foredraft.planner.facts.model import Vocabulary
from foredraft.planner.facts.vocab_gguf import vocabulary as of_gguf
from foredraft.planner.facts.vocab_json import vocabulary as of_json
from foredraft.targets.gguf_file import GGUFFile
from foredraft.targets.gguf_header import GGUFHeader
from foredraft.targets.tokenizer import Tokenizer
from tests.targets import tiny_gguf


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "m.gguf"
    return tiny_gguf.write(path, "llama", tiny_gguf.model("llama"))


@pytest.fixture
def folder(tmp_path):
    PreTrainedTokenizerFast(
        tokenizer_object=tiny_gguf.tokenizer(),
        eos_token="<|im_end|>",
        bos_token="<|im_start|>",
        chat_template=tiny_gguf.TEMPLATE,
    ).save_pretrained(tmp_path)
    return tmp_path


def in_folder(folder: Path, **config) -> Vocabulary:
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    template = (folder / "chat_template.jinja").read_text()
    return of_json(json.loads((folder / "tokenizer.json").read_text()), settings, config, template)


def test_the_pieces_are_those_of_the_engines_tokenizer(path, folder):
    file = GGUFFile(path)
    assert list(of_gguf(file).pieces) == Tokenizer.from_gguf(file)._pieces
    assert list(in_folder(folder).pieces) == Tokenizer.from_folder(folder)._pieces


def test_a_model_as_gguf_and_as_a_folder_is_the_same(path, folder):
    left, right = of_gguf(GGUFFile(path)), in_folder(folder)
    assert (left.kind, left.roles, left.add_bos) == (right.kind, right.roles, right.add_bos)
    assert left.roles == {"bos": 1, "eos": 2, "eot": 2}
    assert left.merges == right.merges
    assert left.template == right.template
    assert left.count == right.count < len(left.tokens) == 320


def header(kind="gpt2", **fields):
    named = {f"tokenizer.ggml.{name}": value for name, value in fields.items()}
    return GGUFHeader({"tokenizer.ggml.model": kind} | named, {})


@pytest.mark.parametrize(
    ("kind", "fields", "bos", "eos"),
    [
        ("gpt2", {}, False, False),
        ("gpt2", {"pre": "llama-bpe"}, True, False),
        ("gpt2", {"pre": "llama-bpe", "add_bos_token": False}, False, False),
        ("gpt2", {"add_bos_token": True}, True, False),
        ("llama", {}, True, False),
        ("llama", {"add_bos_token": False, "add_eos_token": True}, False, True),
        ("t5", {}, False, True),
        ("gpt2", {"pre": "gemma4", "add_bos_token": False}, True, False),
    ],
)
def test_edge_tokens_that_a_file_does_not_state_are_llama_cpps_own(kind, fields, bos, eos):
    made = of_gguf(header(kind, tokens=["a"], **fields))
    assert (made.add_bos, made.add_eos) == (bos, eos)


def test_sentencepiece_entries():
    made = of_gguf(header("llama", tokens=["<s>", "▁a", "<0x0A>", "▁"], token_type=[3, 1, 6, 4]))
    assert made.pieces == (b"<s>", b" a", b"\n", "▁".encode())
    assert made.merges is None


def test_no_tokens():
    assert of_gguf(header()) is None


def json_tokens(**changes):
    made = {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]}}
    return made | {"decoder": {"type": "ByteLevel"}} | changes


def test_roles_by_text_then_by_id():
    settings = {"eos_token": {"content": "b"}, "pad_token": None}
    made = of_json(json_tokens(), settings, {"eos_token_id": 9, "bos_token_id": 0}, None)
    assert made.roles == {"bos": 0, "eos": 1}
    assert of_json(json_tokens(), {}, {"eos_token_id": [1, 0]}, None).roles == {"eos": 1}


def test_bos_by_the_post_processor_unless_stated():
    first = {"single": [{"SpecialToken": {"id": "a"}}, {"Sequence": {"id": "A"}}]}
    chain = {"type": "Sequence", "processors": [{"type": "ByteLevel"}, first]}
    for processor in (first, chain):
        made = of_json(json_tokens(post_processor=processor), {}, {}, None)
        assert (made.add_bos, made.add_eos) == (True, False)
        stated = of_json(json_tokens(post_processor=processor), {"add_bos_token": False}, {}, None)
        assert not stated.add_bos
    assert not of_json(json_tokens(post_processor=None), {}, {}, None).add_bos


def test_other_kinds_of_tokenizer():
    unigram = {"type": "Unigram", "vocab": [["a", -1.0], ["b", -2.0]]}
    assert of_json(json_tokens(model=unigram), {}, {}, None).kind == "t5"
    assert of_json(json_tokens(decoder=None), {}, {}, None).kind == "llama"


def test_added_tokens_and_holes():
    made = of_json(json_tokens(added_tokens=[{"id": 3, "content": "é"}]), {}, {}, None)
    assert made.tokens == ("a", "b", None, "é")
    assert made.pieces == (b"a", b"b", None, "é".encode())


def test_templates():
    several = [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]
    assert of_json(json_tokens(), {"chat_template": several}, {}, None).template == "d"
    assert of_json(json_tokens(), {"chat_template": "s"}, {}, None).template == "s"
    assert of_json(json_tokens(), {"chat_template": "s"}, {}, "file").template == "file"
