"""From what a user names to a model and its tokenizer."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import torch

from foredraft.core.errors import ForedraftError
from foredraft.targets import folder_model, gguf_model, hub
from foredraft.targets.base import Progress
from foredraft.targets.gguf_config import architecture_of
from foredraft.targets.gguf_file import GGUFFile
from foredraft.targets.repository import download
from foredraft.targets.tokenizer import Tokenizer


class Kind(StrEnum):
    """Where weights come from."""

    GGUF = "gguf"
    FOLDER = "folder"
    NAMED = "named"
    REPOSITORY = "repository"


@dataclass(frozen=True, slots=True)
class Source:
    """What a name stands for; `where` is a path, a known name, org/name or org/name/file.gguf."""

    kind: Kind
    where: str

    @property
    def is_gguf(self) -> bool:
        """Whether it is, or will be once fetched, a GGUF file; known names all are."""
        return self.kind in (Kind.GGUF, Kind.NAMED) or self.where.endswith(".gguf")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model in evaluation mode on its device, with its tokenizer and the name it was asked by."""

    model: Any
    tokenizer: Tokenizer
    name: str


def resolve(name: str) -> Source:
    """What `name` stands for: an existing path first, then a known name, then a repository."""
    path = Path(name).expanduser()
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        return Source(Kind.GGUF, str(path))
    if name in hub.KNOWN:
        return Source(Kind.NAMED, name)
    if re.fullmatch(r"[\w.-]+/[\w.-]+(/[\w./-]+\.gguf)?", name) and name[0] not in "./~":
        return Source(Kind.REPOSITORY, name)
    if "/" in name or "\\" in name or name.endswith((".gguf", ".safetensors")):
        raise ForedraftError(f"There is no file or folder {name}; check the path.")
    raise ForedraftError(
        f"No model is called {name!r}; name one of {', '.join(hub.KNOWN)}, a .gguf file, a model "
        "folder or a Hugging Face repository such as Qwen/Qwen3-0.6B."
    )


def load(
    name: str, dtype: torch.dtype, device: torch.device, progress: Progress | None = None
) -> Loaded:
    """The model `name` stands for, in `dtype` on `device`, fetched first if it is not here.

    Raises ForedraftError with one sentence for whatever cannot be found, fetched or read.
    """
    report = progress or (lambda what, done, total: None)
    path = fetch(resolve(name), report)
    if path.is_dir():
        config = folder_model.config_of(path)
        tokenizer = Tokenizer.from_folder(path)
        model = folder_model.build(path, config, dtype)
    else:
        file = GGUFFile(path)
        architecture_of(file)  # first: its refusal says more than the tokenizer's would
        tokenizer = Tokenizer.from_gguf(file)
        model = gguf_model.build(
            file,
            dtype,
            tokenizer.eos_ids,
            lambda done, total: report(f"Loading {name}", done, total),
        )
    try:
        model = model.to(device).eval().requires_grad_(False)
    except (RuntimeError, AssertionError) as error:  # out of memory, or no such device
        size = sum(p.numel() * p.element_size() for p in model.parameters())
        raise ForedraftError(
            f"{name} takes {size / 1e9:.1f} GB and does not fit on {device}; use a smaller model, "
            "--dtype bfloat16 or --device cpu."
        ) from error
    return Loaded(model, tokenizer, name)


def fetch(source: Source, report: Progress) -> Path:
    """The file or folder, downloaded first if it is not here."""
    match source.kind:
        case Kind.NAMED:
            name = source.where
            return hub.pull(name, lambda done, total: report(f"Downloading {name}", done, total))
        case Kind.REPOSITORY:
            return download(source.where)
    return Path(source.where)


def _folder(path: Path) -> Source:
    """A Transformers folder, or a folder around a single GGUF file."""
    files = sorted(path.glob("*.gguf"))
    if (path / "config.json").is_file() or not files:
        return Source(Kind.FOLDER, str(path))
    if len(files) > 1:
        raise ForedraftError(
            f"{path} holds {len(files)} .gguf files; name one, such as {files[0]}."
        )
    return Source(Kind.GGUF, str(files[0]))
