"""From what a user names to a model and its tokenizer."""

from dataclasses import dataclass
from typing import Any

import torch

from foredraft.core.errors import ForedraftError
from foredraft.targets import folder_model, gguf_model
from foredraft.targets.base import Progress
from foredraft.targets.folder_config import config_of
from foredraft.targets.gguf_config import architecture_of
from foredraft.targets.gguf_file import GGUFFile
from foredraft.targets.source import fetch, resolve
from foredraft.targets.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model in evaluation mode on its device, with its tokenizer and the name it was asked by."""

    model: Any
    tokenizer: Tokenizer
    name: str


def load(
    name: str, dtype: torch.dtype, device: torch.device, progress: Progress | None = None
) -> Loaded:
    """The model `name` stands for, in `dtype` on `device`, fetched first if it is not here.

    Raises ForedraftError with one sentence for whatever cannot be found, fetched or read.
    """
    report = progress or (lambda what, done, total: None)
    path = fetch(resolve(name), report)
    if path.is_dir():
        config = config_of(path)
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
