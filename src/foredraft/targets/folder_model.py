"""A Transformers model folder as a model: safetensors only, and no code from the folder is run."""

from pathlib import Path
from typing import Any

import torch

from foredraft.core.errors import ForedraftError
from foredraft.targets.quiet import first_line, quiet

_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


def build(folder: Path, config: Any, dtype: torch.dtype) -> Any:
    """The causal language model in `folder`, in `dtype`, on the CPU; `config` as from config_of.

    Weights that are missing, pickled, cut short or of another shape than config.json says are
    errors; Transformers alone would fill them with random numbers and warn.
    """
    from transformers import AutoModelForCausalLM

    _check_weights(folder)
    try:
        with quiet():
            model, found = AutoModelForCausalLM.from_pretrained(
                str(folder),
                config=config,
                dtype=dtype,
                use_safetensors=True,
                trust_remote_code=False,
                attn_implementation="sdpa",
                ignore_mismatched_sizes=True,  # reported below
                output_loading_info=True,
            )
    except Exception as error:
        raise ForedraftError(
            f"The weights in {folder} cannot be loaded ({first_line(error)}); if a file is cut "
            "short or damaged, download it again."
        ) from error
    wrong = sorted(found["missing_keys"]) + [name for name, *_ in found["mismatched_keys"]]
    if wrong:
        raise ForedraftError(
            f"The weights in {folder} do not belong to its config.json: {len(wrong)} tensors are "
            f"missing or have another shape, such as {wrong[0]}; download the folder again."
        )
    return model


def _check_weights(folder: Path) -> None:
    if any(folder.glob("*.safetensors")):
        return
    if any(file for pattern in _PICKLES for file in folder.glob(pattern)):
        raise ForedraftError(
            f"{folder} has only pickled weights, which can run code when they are read; use the "
            "model's .safetensors files, or convert it with save_pretrained on a machine you trust "
            "it on."
        )
    raise ForedraftError(
        f"{folder} has a config.json and no .safetensors weights; download the model's weights "
        "into it."
    )
