"""Hugging Face repositories, through huggingface_hub and its cache."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from foredraft.core.errors import ForedraftError
from foredraft.targets.quiet import first_line

_WEIGHTS = ("*.json", "*.jinja", "*.safetensors", "*.model", "*.txt")
FACTS = ("*.json", "*.jinja", "*.model", "vocab.txt", "merges.txt")
"""What describes a model: configurations, tokenizer, chat template; a few megabytes."""
_UNWANTED = ["*/*", "consolidated*"]  # other formats' folders, and Mistral's second copy


def download(where: str, wanted: Sequence[str] = _WEIGHTS) -> Path:
    """The folder of `org/name`, or the file of `org/name/file.gguf`; pickles are never fetched."""
    import huggingface_hub

    repo, file = _split(where)
    with _explained(where):
        if file:
            return Path(huggingface_hub.hf_hub_download(repo, file))
        return Path(
            huggingface_hub.snapshot_download(
                repo, allow_patterns=list(wanted), ignore_patterns=_UNWANTED
            )
        )


@contextmanager
def reading(where: str) -> Iterator[BinaryIO]:
    """`org/name/file.gguf` open for reading: in the cache if it is there, else by ranges."""
    import huggingface_hub

    with _explained(where):
        found = huggingface_hub.try_to_load_from_cache(*_split(where))
        with open(found, "rb") if isinstance(found, str) else _remote(where) as file:
            yield file


def tensor_sizes(repo: str) -> dict[str, int]:
    """Bytes of each tensor in the repository's safetensors, from their headers; empty if none."""
    import huggingface_hub
    from huggingface_hub.errors import NotASafetensorsRepoError

    with _explained(repo):
        try:
            files = huggingface_hub.HfApi().get_safetensors_metadata(repo).files_metadata
        except NotASafetensorsRepoError:
            return {}
    return {
        name: tensor.data_offsets[1] - tensor.data_offsets[0]
        for file in files.values()
        for name, tensor in file.tensors.items()
    }


def _split(where: str) -> tuple[str, str]:
    """The repository and the file in it, or ""."""
    parts = where.split("/")
    return "/".join(parts[:2]), "/".join(parts[2:])


def _remote(where: str) -> BinaryIO:
    import huggingface_hub
    from huggingface_hub.errors import EntryNotFoundError

    try:
        return cast(BinaryIO, huggingface_hub.HfFileSystem().open(where, "rb"))
    except FileNotFoundError as error:
        raise EntryNotFoundError(first_line(error)) from error


@contextmanager
def _explained(where: str) -> Iterator[None]:
    """huggingface_hub's errors as sentences."""
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    repo, file = _split(where)
    try:
        yield
    except ForedraftError:
        raise
    except GatedRepoError as error:
        raise ForedraftError(
            f"The repository {repo} is gated; accept its licence on https://huggingface.co/{repo} "
            "and log in with `hf auth login`."
        ) from error
    except RepositoryNotFoundError as error:
        raise ForedraftError(
            f"There is no path {where} here and no public repository {repo} on Hugging Face; check "
            "the spelling, or log in with `hf auth login` if it is private."
        ) from error
    except LocalEntryNotFoundError as error:  # also an EntryNotFoundError
        raise ForedraftError(_unreachable(where)) from error
    except EntryNotFoundError as error:
        raise ForedraftError(
            f"The repository {repo} has no file {file}; check the spelling on "
            f"https://huggingface.co/{repo}/tree/main."
        ) from error
    except OSError as error:
        if error.errno is None:  # the network, in one of its many classes
            raise ForedraftError(_unreachable(where)) from error
        raise ForedraftError(
            f"{where} cannot be stored in Hugging Face's cache ({first_line(error)}); make room or "
            "name another folder in HF_HOME."
        ) from error
    except Exception as error:
        raise ForedraftError(
            f"{where} cannot be fetched from Hugging Face ({first_line(error)}); check the name "
            "and the network."
        ) from error


def _unreachable(where: str) -> str:
    return (
        f"Hugging Face cannot be reached and {where} is not in its cache, nor is it a path here; "
        "check the network, name a mirror in HF_ENDPOINT, or name a local file or folder."
    )
