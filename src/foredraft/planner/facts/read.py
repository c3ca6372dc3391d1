"""From what a user names to what can be known of it without its weights."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.planner.facts import folder, gguf
from foredraft.planner.facts.gguf import Stream
from foredraft.planner.facts.model import ModelFacts
from foredraft.planner.facts.remote import WebFile, is_url
from foredraft.targets import repository
from foredraft.targets.base import Progress
from foredraft.targets.source import Kind, fetch, resolve

_NEAR, _FAR = 1 << 25, 1 << 21
"""Bytes read at first: a header takes 2 to 20 MB, which only matters over a network."""


def read(name: str, progress: Progress) -> ModelFacts:
    """The facts of a model: a folder, a .gguf file, its URL, a known name or a repository.

    Of a repository only configurations, tokenizer and headers are fetched, of a URL the header; a
    known name not here yet is downloaded.
    """
    if is_url(name):
        return gguf.facts(name, name, _on_the_web)
    source = resolve(name)
    if source.kind is Kind.REPOSITORY and source.is_gguf:
        return gguf.facts(name, source.where, _in_a_repository)
    if source.kind is Kind.REPOSITORY:
        small = repository.download(source.where, repository.FACTS)
        return folder.facts(name, source.where, small, _sizes(source.where))
    path = fetch(source, progress)
    if path.is_dir():
        return folder.facts(name, str(path), path, folder.tensor_sizes(path))
    return gguf.facts(name, str(path), _here)


def _sizes(repo: str) -> dict[str, int]:
    """The repository's tensors; none where it is read from the cache, without a network."""
    try:
        return repository.tensor_sizes(repo)
    except ForedraftError:
        return {}


@contextmanager
def _here(path: str) -> Iterator[Stream]:
    try:
        with open(path, "rb") as file:
            yield Stream(file.read, lambda: Path(path).stat().st_size, _NEAR)
    except OSError as error:
        raise ForedraftError(f"{path} cannot be read: {error.strerror}.") from error


@contextmanager
def _in_a_repository(where: str) -> Iterator[Stream]:
    with repository.reading(where) as file:
        yield Stream(file.read, lambda: None, _FAR)


@contextmanager
def _on_the_web(url: str) -> Iterator[Stream]:
    with closing(WebFile(url)) as file:
        yield Stream(file.read, lambda: file.size, _FAR)
