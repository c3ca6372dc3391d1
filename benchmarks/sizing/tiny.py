"""The tiny drafts: their sizes, and what is told of their training."""

import json
import shutil
from pathlib import Path
from typing import Any

import torch

from foredraft.targets.tokenizer import Tokenizer
from foredraft.training.publish import publish_small
from foredraft.training.small import Size

SIZES = (Size(64, 1), Size(128, 2), Size(256, 2), Size(512, 2))
_TOLD = "training.json"


def name_of(size: Size) -> str:
    return f"tiny-{size.width}x{size.layers}"


def save(model: Any, tokenizer: Tokenizer, told: dict[str, Any], folder: Path) -> None:
    """A Transformers folder with what is told of its training; there whole or not at all."""
    temporary = folder.with_name(f".{folder.name}")
    shutil.rmtree(temporary, ignore_errors=True)
    publish_small(model, tokenizer, temporary)
    (temporary / _TOLD).write_text(json.dumps(told) + "\n")
    temporary.rename(folder)


def trained(folder: Path) -> dict[str, Any]:
    """What `save` was told."""
    told: dict[str, Any] = json.loads((folder / _TOLD).read_text())
    return told


def parameters(target: Any) -> int:
    """Numbers in a model, one shared between input and output counted once."""
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        return int(AutoModelForCausalLM.from_config(target.model.config).num_parameters())
