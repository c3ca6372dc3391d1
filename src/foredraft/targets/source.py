"""From what a user names to the file or folder it stands for."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.targets import hub
from foredraft.targets.base import Progress
from foredraft.targets.repository import download


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


def resolve(name: str) -> Source:
    """What `name` stands for: an existing path first, then a known name, then a repository."""
    path = Path(name).expanduser()
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        return Source(Kind.GGUF, str(path))
    if name in hub.KNOWN:
        return Source(Kind.NAMED, name)
    repository = re.fullmatch(r"[\w-][\w.-]*/[\w.-]+(?P<file>/[\w./-]+\.gguf)?", name)
    is_file = name.endswith((".gguf", ".safetensors"))
    # org/name.gguf could be a repository, but hardly is: more often it is a path with a mistake.
    if repository and (repository["file"] or not is_file):
        return Source(Kind.REPOSITORY, name)
    if "/" in name or "\\" in name or is_file:
        raise ForedraftError(f"There is no file or folder {name}; check the path.")
    raise ForedraftError(
        f"No model is called {name!r}; name one of {', '.join(hub.KNOWN)}, a .gguf file, a model "
        "folder or a Hugging Face repository such as Qwen/Qwen3-0.6B."
    )


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
