"""The headers of .safetensors files: what tensors there are, without reading them."""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foredraft.core.errors import ForedraftError


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """Where a tensor lies: its file, shape, and size in bytes."""

    file: Path
    shape: tuple[int, ...]
    size: int


def entries(folder: Path) -> Mapping[str, TensorEntry]:
    """The tensors of all .safetensors files in a folder; ForedraftError for a file cut short."""
    found: dict[str, TensorEntry] = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            found |= _header(path)
        except (OSError, struct.error, ValueError, KeyError, TypeError) as error:
            raise ForedraftError(
                f"{path} is no whole safetensors file; download it again."
            ) from error
    return found


def _header(path: Path) -> dict[str, TensorEntry]:
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        size = path.stat().st_size
        told = json.loads(file.read(min(length, size)))
    told.pop("__metadata__", None)
    found = {
        name: TensorEntry(path, tuple(entry["shape"]), _extent(entry["data_offsets"]))
        for name, entry in told.items()
    }
    if 8 + length + max((entry["data_offsets"][1] for entry in told.values()), default=0) > size:
        raise ValueError("cut short")
    return found


def _extent(offsets: list[int]) -> int:
    return offsets[1] - offsets[0]
