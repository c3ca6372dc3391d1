"""A GGUF file: what its header says, and its tensors as numbers."""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from foredraft.core.errors import ForedraftError

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
_CHUNK = 1 << 17
"""Elements dequantized at once: large enough for NumPy, small enough for the processor's cache."""


@dataclass(frozen=True, slots=True)
class GGUFTensor:
    """Where one tensor lies in the file: [rows, …, columns], as in PyTorch; `kind` is ggml's."""

    shape: tuple[int, ...]
    kind: int
    offset: int
    size: int


class GGUFFile:
    """A header read and checked whole, so a truncated file is refused before any tensor is read.

    Parsed here because gguf.GGUFReader makes NumPy views of every vocabulary entry, which takes
    16 seconds for 150,000 tokens.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open(path, "rb") as file:
                if file.read(4) != b"GGUF":
                    raise ForedraftError(
                        f"{path} is not a GGUF file (its first bytes are not 'GGUF'); name a .gguf "
                        "file, a model folder or a Hugging Face repository."
                    )
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        except OSError as error:
            raise ForedraftError(f"{path} cannot be read: {error.strerror}.") from error
        try:
            self.fields, self.tensors = self._header()
        except (struct.error, ValueError, KeyError, RecursionError) as error:
            raise ForedraftError(
                f"{path} has a header that is cut short or damaged; download the file again."
            ) from error
        end = max((t.offset + t.size for t in self.tensors.values()), default=0)
        if end > len(self._bytes):
            raise ForedraftError(
                f"{path} is cut short: its header promises {end:,} bytes and it has "
                f"{len(self._bytes):,}; download the file again."
            )

    @property
    def architecture(self) -> str:
        return str(self.fields.get("general.architecture", "unknown"))

    def blocks(self, name: str) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
        """(index of the first element, values [n]) along the flattened tensor, dequantized."""
        from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
        from gguf.quants import dequantize

        tensor = self.tensors[name]
        kind = GGMLQuantizationType(tensor.kind)
        block, width = GGML_QUANT_SIZES[kind]
        count, chunk = prod(tensor.shape), _CHUNK // block * block
        for first in range(0, count, chunk):
            begin = tensor.offset + first // block * width
            length = min(chunk, count - first) // block * width
            raw = np.frombuffer(self._bytes, dtype=np.uint8, count=length, offset=begin)
            try:
                # One long row: the gguf package works through rows sixteen at a time, and a
                # model's own rows are too short for it to be quick.
                yield first, dequantize(raw.reshape(1, -1), kind).reshape(-1)
            except NotImplementedError as error:
                raise ForedraftError(
                    f"{self.path} stores {name} as {kind.name}, which the gguf package cannot "
                    "turn into plain numbers; use a file quantized as Q4_K_M or Q8_0."
                ) from error

    def _header(self) -> tuple[dict[str, Any], dict[str, GGUFTensor]]:
        cursor = _Cursor(self._bytes)
        version, tensor_count, field_count = cursor.take("IQQ")
        if version not in _VERSIONS:
            old = "big-endian" if version & 0xFFFF == 0 else f"version {version}"
            raise ForedraftError(
                f"{self.path} is a GGUF file of a kind not supported ({old}); convert the model "
                "again with a current llama.cpp."
            )
        fields = dict(cursor.field() for _ in range(cursor.bounded(field_count)))
        if (pieces := fields.get("split.count", 1)) > 1:
            raise ForedraftError(
                f"{self.path} is one of {pieces} pieces of a model; join them first with "
                "`llama-gguf-split --merge`."
            )
        infos = [cursor.tensor() for _ in range(cursor.bounded(tensor_count))]
        alignment = fields.get("general.alignment", 32)
        start = -(-cursor.at // alignment) * alignment if alignment else cursor.at
        return fields, {
            name: GGUFTensor(shape, kind, start + offset, self._size(name, shape, kind))
            for name, shape, kind, offset in infos
        }

    def _size(self, name: str, shape: tuple[int, ...], kind: int) -> int:
        """Bytes the tensor takes."""
        from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

        try:
            block, width = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
        except (ValueError, KeyError) as error:
            raise ForedraftError(
                f"{self.path} stores {name} in format number {kind}, which the installed gguf "
                "package does not know; upgrade it (pip install -U gguf)."
            ) from error
        if shape and shape[-1] % block:
            raise ValueError(f"{name} has rows that are not whole blocks")
        size: int = prod(shape) // block * width
        return size


class _Cursor:
    """Reads little-endian values one after the other; struct.error past the end."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.at = 4

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
