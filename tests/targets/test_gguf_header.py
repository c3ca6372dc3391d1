"""A header can be read from the start of a file, however much of it has arrived."""

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.targets.gguf_file import GGUFFile
from foredraft.targets.gguf_header import check_magic, read_header
from tests.targets import tiny_gguf


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "m.gguf"
    return tiny_gguf.write(path, "qwen2", tiny_gguf.model("qwen2"))


def test_the_start_is_enough(path):
    file, data = GGUFFile(path), path.read_bytes()
    first = min(tensor.offset for tensor in file.tensors.values())
    header = read_header(data[:first], "m")
    assert header is not None
    assert (header.architecture, header.pieces) == ("qwen2", 1)
    assert header.tensors == file.tensors
    assert header.fields == file.fields


def test_too_little_is_told_from_damage(path):
    data = path.read_bytes()
    tensors = [tensor.offset for tensor in GGUFFile(path).tensors.values()]
    for length in range(8, min(tensors) - 32, 97):
        assert read_header(data[:length], "m") is None
    field = (1).to_bytes(8, "little") + b"a" + (77).to_bytes(4, "little")  # no such type
    with pytest.raises(ForedraftError, match="m has a header that is cut short or damaged"):
        read_header(data[:24] + field + bytes(100), "m")


def test_the_promised_size(path):
    header = read_header(path.read_bytes(), "m")
    size = path.stat().st_size
    header.check_size("m", size)
    with pytest.raises(ForedraftError, match="m is cut short: its header promises"):
        header.check_size("m", size - 100)


def test_magic():
    check_magic(b"GGUF...", "m")
    with pytest.raises(ForedraftError, match="m is not a GGUF file"):
        check_magic(b"GGU", "m")
