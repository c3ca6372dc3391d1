"""Text to ids and back as the model expects it, and where the model stops."""

import json

import pytest
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

from foredraft.core.errors import ForedraftError
from foredraft.targets.gguf_file import GGUFFile
from foredraft.targets.tokenizer import Tokenizer
from tests.targets import tiny_gguf

TEXT = "the tide — goes out, é 😀 <|im_end|>\n x = 22"
MESSAGES = [{"role": "user", "content": "twice a day"}]


def hf(**options):
    return PreTrainedTokenizerFast(
        tokenizer_object=tiny_gguf.tokenizer(), eos_token="<|im_end|>", **options
    )


@pytest.fixture(scope="module")
def llama():
    return tiny_gguf.model("llama")


@pytest.fixture
def in_gguf(tmp_path, llama):
    def make(**options):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.gguf"
        return Tokenizer.from_gguf(GGUFFile(tiny_gguf.write(path, "llama", llama, **options)))

    return make


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "folder"
    hf(chat_template=tiny_gguf.TEMPLATE).save_pretrained(folder)
    return folder


def test_text_there_and_back(in_gguf, folder):
    for tokenizer in (in_gguf(), Tokenizer.from_folder(folder)):
        ids = tokenizer.encode(TEXT)
        assert ids == tiny_gguf.tokenizer().encode(TEXT).ids
        assert tokenizer.decode(ids) == TEXT.replace("<|im_end|>", "")
        assert tokenizer.decode(tuple(ids[:3])) == TEXT[: len(tokenizer.decode(ids[:3]))]
        assert "".join(tokenizer.piece(i) for i in tokenizer.encode("twice a day<|im_end|>")) == (
            "twice a day<|im_end|>"
        )


def test_a_saved_tokenizer_is_the_same(in_gguf, tmp_path):
    tokenizer = in_gguf()
    tokenizer.save(tmp_path / "saved")
    again = Tokenizer.from_folder(tmp_path / "saved")
    assert again.same_as(tokenizer) is None
    assert again.encode(TEXT) == tokenizer.encode(TEXT)
    assert again.chat(MESSAGES) == tokenizer.chat(MESSAGES)


def test_pieces_of_a_character(in_gguf):
    tokenizer = in_gguf()
    pieces = [tokenizer.piece(i) for i in tokenizer.encode("😀")]
    assert len(pieces) > 1
    assert set(pieces) == {"�"}


def test_chat(in_gguf, folder):
    for tokenizer in (in_gguf(), Tokenizer.from_folder(folder)):
        assert tokenizer.has_template
        ids = tokenizer.chat(MESSAGES)
        assert ids == tokenizer.encode(
            "<|im_start|>user\ntwice a day<|im_end|>\n<|im_start|>assistant"
        )


def test_chat_without_a_template(in_gguf):
    tokenizer = in_gguf(template=None)
    assert not tokenizer.has_template
    with pytest.raises(ForedraftError, match=r"has no chat template .* give it plain text"):
        tokenizer.chat(MESSAGES)


def test_messages_the_template_refuses(in_gguf):
    with pytest.raises(ForedraftError, match=r"template refuses these messages \(no robots\)"):
        in_gguf().chat([{"role": "robot", "content": "x"}])


def test_ends_of_a_gguf(in_gguf):
    assert in_gguf().eos_ids == {0, 2}  # <|im_end|> as stated, <|endoftext|> by name
    assert in_gguf(fields={"tokenizer.ggml.eot_token_id": 7}).eos_ids == {0, 2, 7}


def test_ends_of_a_folder(folder):
    assert Tokenizer.from_folder(folder).eos_ids == {2}
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "eos_token_id": 5}))
    assert Tokenizer.from_folder(folder).eos_ids == {2, 5}
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, 2]}))
    assert Tokenizer.from_folder(folder).eos_ids == {1, 2}


def test_a_wanted_bos_is_added_to_raw_text_only(tmp_path, llama, monkeypatch):
    from gguf import GGUFWriter

    add = GGUFWriter.add_add_bos_token
    monkeypatch.setattr(GGUFWriter, "add_add_bos_token", lambda self, _: add(self, True))
    path = tiny_gguf.write(tmp_path / "bos.gguf", "llama", llama)
    tokenizer = Tokenizer.from_gguf(GGUFFile(path))
    assert tokenizer.encode("a")[0] == 1
    assert tokenizer.chat(MESSAGES)[:2] != [1, 1]


def test_smollm_numbers_are_cut_into_digits(in_gguf):
    """SmolLM's tokenizer leaves the space before a number alone; GPT-2's does not."""
    of_gpt2, of_smollm = in_gguf(), in_gguf(pre="smollm")
    assert [of_smollm.piece(i) for i in of_smollm.encode("  22")] == [" ", " ", "2", "2"]
    assert of_smollm.encode("a day") == of_gpt2.encode("a day")
    assert "Digits" in repr(of_smollm._hf.backend_tokenizer.pre_tokenizer)


def test_a_gguf_without_a_tokenizer(tmp_path, llama):
    path = tiny_gguf.write(tmp_path / "m.gguf", "llama", llama)
    path.write_bytes(path.read_bytes().replace(b"tokenizer.ggml.tokens", b"tokenizer.ggml.tokenx"))
    with pytest.raises(ForedraftError, match="has no tokenizer inside"):
        Tokenizer.from_gguf(GGUFFile(path))


def test_a_gguf_with_an_unknown_kind_of_tokenizer(tmp_path, llama, monkeypatch):
    monkeypatch.setattr(
        "gguf.GGUFWriter.add_tokenizer_model",
        lambda self, _: self.add_string("tokenizer.ggml.model", "rwkv"),
    )
    path = tiny_gguf.write(tmp_path / "m.gguf", "llama", llama)
    with pytest.raises(ForedraftError, match="has a tokenizer that cannot be read"):
        Tokenizer.from_gguf(GGUFFile(path))


def test_a_folder_without_a_tokenizer(tmp_path):
    with pytest.raises(ForedraftError, match="has no tokenizer that can be read"):
        Tokenizer.from_folder(tmp_path)


def test_an_empty_tokenizer_that_transformers_makes_up_is_refused(tmp_path):
    """It read every prompt as nothing, and `run` went on with that."""
    for kind in ("qwen2", "gemma3_text", "gpt_neox"):
        (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
        with pytest.raises(ForedraftError, match="has no tokenizer; it needs"):
            Tokenizer.from_folder(tmp_path)


def test_same_tokens(in_gguf, folder):
    """The GGUF pads its vocabulary; padding and a longer tail do not count."""
    padded, plain = in_gguf(), Tokenizer.from_folder(folder)
    assert padded.vocab_size == 320
    assert plain.vocab_size < 320
    assert padded.same_as(plain) is None
    assert plain.same_as(padded) is None
    longer = hf()
    longer.add_tokens(["<new>"])
    assert plain.same_as(Tokenizer(longer)) is None


def test_other_tokens():
    backend = json.loads(tiny_gguf.tokenizer().to_str())
    vocabulary = backend["model"]["vocab"]
    vocabulary["a"], vocabulary["b"] = vocabulary["b"], vocabulary["a"]
    from tokenizers import Tokenizer as Backend

    changed = Tokenizer(
        PreTrainedTokenizerFast(tokenizer_object=Backend.from_str(json.dumps(backend)))
    )
    said = Tokenizer(hf()).same_as(changed)
    assert said is not None
    assert "is 'a' in one and 'b' in the other, and 2 of " in said


def test_sentencepiece_pieces():
    """▁ is a space and <0xE2> a byte, so vocabularies spelled differently can be compared."""
    from tokenizers import Tokenizer as Backend
    from tokenizers import decoders, models

    words = {"<unk>": 0, "▁the": 1, "<0xE2>": 2, "é": 3, "</s>": 4}
    backend = Backend(models.BPE(vocab=words, merges=[], byte_fallback=True))
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback()])
    backend.add_special_tokens([AddedToken("</s>", special=True)])
    tokenizer = Tokenizer(PreTrainedTokenizerFast(tokenizer_object=backend))
    assert [tokenizer.piece(i) for i in (1, 2, 3, 4)] == [" the", "�", "é", "</s>"]
    assert tokenizer._pieces[2] == b"\xe2"


def test_the_name_of_a_special_token_can_be_spelled():
    """Forced text is tokenized: a name that became the token would end the answer there."""
    tokenizer = Tokenizer(hf())
    special = min(tokenizer.special_ids)
    text = f"a{tokenizer.piece(special)}"
    assert special in tokenizer.encode(text)
    assert special not in tokenizer.spell(text)
    assert tokenizer.decode(tokenizer.spell(text)) == text
    assert tokenizer.decode([special]) == ""
