"""Hugging Face repositories, through huggingface_hub and its cache."""

from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.targets.quiet import first_line

_WANTED = ["*.json", "*.jinja", "*.safetensors", "*.model", "*.txt"]
_UNWANTED = ["*/*", "consolidated*"]  # other formats' folders, and Mistral's second copy


def download(where: str) -> Path:
    """The folder of `org/name`, or the file of `org/name/file.gguf`; pickles are never fetched."""
    import huggingface_hub
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    repo, file = "/".join(where.split("/")[:2]), "/".join(where.split("/")[2:])
    try:
        if file:
            return Path(huggingface_hub.hf_hub_download(repo, file))
        return Path(
            huggingface_hub.snapshot_download(
                repo, allow_patterns=_WANTED, ignore_patterns=_UNWANTED
            )
        )
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
