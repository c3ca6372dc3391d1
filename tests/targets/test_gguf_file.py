"""GGUF headers are read whole, and whatever is wrong with one is a single sentence."""

import struct

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import dequantize, quantize

from foredraft.core.errors import ForedraftError
from foredraft.targets import gguf_file
from foredraft.targets.gguf_file import GGUFFile

RANDOM = np.random.default_rng(0)
PLAIN = RANDOM.standard_normal((3, 5)).astype(np.float32)
BLOCKY = RANDOM.standard_normal((6, 64)).astype(np.float32)
Q8_0 = GGMLQuantizationType.Q8_0


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "small.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_uint32("llama.block_count", 7)
    writer.add_float32("llama.rope.freq_base", 1e4)
    writer.add_bool("llama.flag", True)
    writer.add_array("tokenizer.ggml.tokens", ["a", "é", "<|end|>"])
    writer.add_array("some.numbers", [1, 2, 3])
    writer.add_tensor("plain", PLAIN)
    writer.add_tensor("half", PLAIN.astype(np.float16))
    writer.add_tensor("blocky", quantize(BLOCKY, Q8_0), raw_dtype=Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def values(file, name):
    flat = np.concatenate([block for _, block in file.blocks(name)])
    return flat.reshape(file.tensors[name].shape)


def test_fields(path):
    file = GGUFFile(path)
    assert file.architecture == "llama"
    assert file.fields["llama.block_count"] == 7
    assert file.fields["llama.flag"] is True
    assert file.fields["tokenizer.ggml.tokens"] == ["a", "é", "<|end|>"]
    assert file.fields["some.numbers"] == [1, 2, 3]


@pytest.mark.parametrize("chunk", [32, 64, 1 << 17])
def test_tensors(path, chunk, monkeypatch):
    monkeypatch.setattr(gguf_file, "_CHUNK", chunk)
    file = GGUFFile(path)
    assert list(file.tensors) == ["plain", "half", "blocky"]
    np.testing.assert_array_equal(values(file, "plain"), PLAIN)
    np.testing.assert_array_equal(values(file, "half"), PLAIN.astype(np.float16))
    np.testing.assert_array_equal(values(file, "blocky"), dequantize(quantize(BLOCKY, Q8_0), Q8_0))


def test_every_truncation_is_refused_before_a_tensor_is_read(path):
    whole = path.read_bytes()
    end = max(tensor.offset + tensor.size for tensor in GGUFFile(path).tensors.values())
    for length in range(5, end):
        path.write_bytes(whole[:length])
        with pytest.raises(ForedraftError, match=r"is cut short|download the file again"):
            GGUFFile(path)


def test_truncation_says_how_much_is_missing(path):
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ForedraftError, match=r"promises [\d,]+ bytes and it has [\d,]+; download"):
        GGUFFile(path)


@pytest.mark.parametrize("content", [b"", b"GG", b"PK\x03\x04 not a model"])
def test_other_files(path, content):
    path.write_bytes(content)
    with pytest.raises(ForedraftError, match="is not a GGUF file"):
        GGUFFile(path)


def test_no_file(tmp_path):
    with pytest.raises(ForedraftError, match=r"none\.gguf cannot be read: No such file"):
        GGUFFile(tmp_path / "none.gguf")


@pytest.mark.parametrize(("version", "said"), [(1, "version 1"), (3 << 24, "big-endian")])
def test_other_versions(path, version, said):
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", version, 0, 0))
    with pytest.raises(
        ForedraftError, match=f"not supported \\({said}\\); convert the model again"
    ):
        GGUFFile(path)


def test_a_count_no_file_could_hold(path):
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1 << 60))
    with pytest.raises(ForedraftError, match="header that is cut short or damaged"):
        GGUFFile(path)


def test_an_unknown_tensor_format(path):
    content = path.read_bytes()
    # name, dimension count, two dimensions, format: the last becomes one that does not exist
    head = content.index(b"plain") + len("plain") + 4 + 16
    path.write_bytes(content[:head] + struct.pack("<I", 999) + content[head + 4 :])
    with pytest.raises(ForedraftError, match=r"stores plain in format number 999.*upgrade it"):
        GGUFFile(path)


def test_a_format_without_numbers(path, monkeypatch):
    def refuse(*_):
        raise NotImplementedError

    monkeypatch.setattr("gguf.quants.dequantize", refuse)
    with pytest.raises(
        ForedraftError, match="stores blocky as Q8_0, which the gguf package cannot"
    ):
        list(GGUFFile(path).blocks("blocky"))


def test_one_piece_of_a_split_model(tmp_path):
    path = tmp_path / "model-00001-of-00003.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_uint16("split.count", 3)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ForedraftError, match="one of 3 pieces of a model; join them first"):
        GGUFFile(path)
