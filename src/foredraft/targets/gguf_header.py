"""What a GGUF file says of itself before its first tensor."""

import mmap
import struct
from dataclasses import dataclass
from math import prod
from typing import Any

from foredraft.core.errors import ForedraftError

MAGIC = b"GGUF"
# struct letters of the fixed-size value types; 8 is a string and 9 an array
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_STRING, _ARRAY = 8, 9
_VERSIONS = (2, 3)


@dataclass(frozen=True, slots=True)
class GGUFTensor:
    """Where one tensor lies in the file: [rows, …, columns], as in PyTorch; `kind` is ggml's."""

    shape: tuple[int, ...]
    kind: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class GGUFHeader:
    """Fields by name, tensors by name."""

    fields: dict[str, Any]
    tensors: dict[str, GGUFTensor]

    @property
    def architecture(self) -> str:
        return str(self.fields.get("general.architecture", "unknown"))

    @property
    def pieces(self) -> int:
        """How many files the model is split into."""
        return int(self.fields.get("split.count", 1))

    def check_size(self, name: str, size: int) -> None:
        """Refuse a file of `size` bytes that ends before its last tensor does."""
        end = max((tensor.offset + tensor.size for tensor in self.tensors.values()), default=0)
        if end > size:
            raise ForedraftError(
                f"{name} is cut short: its header promises {end:,} bytes and it has {size:,}; "
                "download the file again."
            )


def check_magic(start: bytes | bytearray, name: str) -> None:
    """Refuse a file that does not start as GGUF does."""
    if not start.startswith(MAGIC):
        raise ForedraftError(
            f"{name} is not a GGUF file (its first bytes are not 'GGUF'); name a .gguf file, a "
            "model folder or a Hugging Face repository."
        )


def damaged(name: str) -> ForedraftError:
    return ForedraftError(
        f"{name} has a header that is cut short or damaged; download the file again."
    )


def read_header(data: bytes | bytearray | mmap.mmap, name: str) -> GGUFHeader | None:
    """The header at the start of `data`, checked whole; None where `data` ends before it does.

    Parsed here because gguf.GGUFReader makes NumPy views of every vocabulary entry, which takes
    16 seconds for 150,000 tokens, and needs the whole file.
    """
    try:
        return _parse(data, name)
    except struct.error:
        return None
    except (ValueError, KeyError, RecursionError) as error:
        raise damaged(name) from error


def _parse(data: bytes | bytearray | mmap.mmap, name: str) -> GGUFHeader:
    cursor = _Cursor(data)
    version, tensor_count, field_count = cursor.take("IQQ")
    if version not in _VERSIONS:
        old = "big-endian" if version & 0xFFFF == 0 else f"version {version}"
        raise ForedraftError(
            f"{name} is a GGUF file of a kind not supported ({old}); convert the model again "
            "with a current llama.cpp."
        )
    fields = dict(cursor.field() for _ in range(cursor.bounded(field_count)))
    infos = [cursor.tensor() for _ in range(cursor.bounded(tensor_count))]
    alignment = fields.get("general.alignment", 32)
    start = -(-cursor.at // alignment) * alignment if alignment else cursor.at
    return GGUFHeader(
        fields,
        {
            tensor: GGUFTensor(shape, kind, start + offset, _size(name, tensor, shape, kind))
            for tensor, shape, kind, offset in infos
        },
    )


def _size(name: str, tensor: str, shape: tuple[int, ...], kind: int) -> int:
    """Bytes the tensor takes."""
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

    try:
        block, width = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
    except (ValueError, KeyError) as error:
        raise ForedraftError(
            f"{name} stores {tensor} in format number {kind}, which the installed gguf package "
            "does not know; upgrade it (pip install -U gguf)."
        ) from error
    if shape and shape[-1] % block:
        raise ValueError(f"{tensor} has rows that are not whole blocks")
    size: int = prod(shape) // block * width
    return size


class _Cursor:
    """Reads little-endian values one after the other; struct.error past the end."""

    def __init__(self, data: bytes | bytearray | mmap.mmap) -> None:
        self.data = data
        self.at = len(MAGIC)

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def bounded(self, count: int) -> int:
        """A count from the file, which cannot exceed the bytes left: a damaged one may be huge."""
        if count > len(self.data) - self.at:
            raise struct.error("count past the end")
        return count

    def text(self) -> str:
        length = self.bounded(self.take("Q")[0])
        self.at += length
        return self.data[self.at - length : self.at].decode("utf-8", errors="replace")

    def value(self, kind: int) -> Any:
        if kind in _SCALARS:
            return self.take(_SCALARS[kind])[0]
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY:
            raise ValueError(f"value type {kind}")
        inner, count = self.take("IQ")
        self.bounded(count)
        if inner in _SCALARS:
            return list(self.take(f"{count}{_SCALARS[inner]}"))
        return [self.value(inner) for _ in range(count)]

    def field(self) -> tuple[str, Any]:
        name = self.text()
        return name, self.value(self.take("I")[0])

    def tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        """(name, shape, kind, offset); ggml lists the fastest dimension first."""
        name = self.text()
        dims = self.take(f"{self.bounded(self.take('I')[0])}Q")
        kind, offset = self.take("IQ")
        return name, dims[::-1], kind, offset
