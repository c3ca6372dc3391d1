"""A GGUF file: what its header says, and its tensors as numbers."""

import mmap
from collections.abc import Iterator
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from foredraft.core.errors import ForedraftError
from foredraft.targets.gguf_header import MAGIC, check_magic, damaged, read_header

_CHUNK = 1 << 17
"""Elements dequantized at once: large enough for NumPy, small enough for the processor's cache."""


class GGUFFile:
    """A header read and checked whole, so a truncated file is refused before any tensor is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        name = str(path)
        try:
            with open(path, "rb") as file:
                check_magic(file.read(len(MAGIC)), name)
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        except OSError as error:
            raise ForedraftError(f"{path} cannot be read: {error.strerror}.") from error
        header = read_header(self._bytes, name)
        if header is None:
            raise damaged(name)
        if header.pieces > 1:
            raise ForedraftError(
                f"{path} is one of {header.pieces} pieces of a model; join them first with "
                "`llama-gguf-split --merge`."
            )
        header.check_size(name, len(self._bytes))
        self.architecture = header.architecture
        self.fields, self.tensors = header.fields, header.tensors

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
