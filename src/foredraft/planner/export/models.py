"""A plan's names of models, as llama.cpp's family or Hugging Face's wants them."""

from dataclasses import dataclass
from pathlib import Path

from foredraft.targets.hub import KNOWN, cache_dir

_ORIGINALS = {
    "smollm2": "HuggingFaceTB/SmolLM2-135M-Instruct",
    "qwen2.5-coder-1.5b": "Qwen/Qwen2.5-Coder-1.5B-Instruct",
    "qwen2.5-coder-0.5b": "Qwen/Qwen2.5-Coder-0.5B-Instruct",
    "gemma-3-270m": "google/gemma-3-270m",
}
"""The repositories that the named weights were made from."""


@dataclass(frozen=True, slots=True)
class Model:
    """Where an engine finds a model: a path or repository, and the file in it if it is one of many.

    `notes` say what a person must put in place first.
    """

    where: str
    file: str | None = None
    notes: tuple[str, ...] = ()


def stem(name: str) -> str:
    """The last part of a name, without .gguf."""
    return name.rstrip("/").rpartition("/")[2].removesuffix(".gguf")


def gguf(name: str) -> Model:
    """The GGUF file that a name stands for."""
    if name in KNOWN:
        return Model(str(cache_dir() / f"{name}.gguf"))
    if _in_repository(name):
        organisation, repository, file = name.split("/", 2)
        return Model(f"{organisation}/{repository}", file)
    if name.endswith(".gguf"):
        return Model(name)
    made = f"{stem(name)}.gguf"
    return Model(
        made,
        notes=(
            f"{name} is no GGUF file: make {made} of it with llama.cpp's convert_hf_to_gguf.py, or "
            "name one that others made.",
        ),
    )


def original(name: str, engine: str) -> Model:
    """The Hugging Face repository or folder that a name stands for."""
    if name in _ORIGINALS:
        where = _ORIGINALS[name]
        note = f"the plan measured the quantized {name}; {where} is what it was made from."
        return Model(where, notes=(note,))
    if not name.endswith(".gguf"):
        return Model(name)
    where = f"ORG/{stem(name)}"
    return Model(
        where,
        notes=(
            f"the plan measured {name}; put the repository it was made from, which is what "
            f"{engine} loads, in place of {where}.",
        ),
    )


def _in_repository(name: str) -> bool:
    """Whether it is org/name/file.gguf, and not a path that looks like it."""
    return (
        name.endswith(".gguf")
        and name.count("/") >= 2
        and name[0] not in "./~"
        and not Path(name).exists()
    )
