"""Trained drafts as folders in the layouts that other engines read too."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from foredraft.core.errors import ForedraftError
from foredraft.core.files import write_whole
from foredraft.heads.eagle3 import Eagle3
from foredraft.targets.quiet import quiet
from foredraft.targets.tokenizer import Tokenizer
from foredraft.training.teacher import Teacher

_SPECULATORS = "0.9.0"
"""The version of the `speculators` package whose layout this is."""


def publish_eagle3(
    network: Eagle3,
    ids: torch.Tensor,
    taps: Sequence[int],
    teacher: Teacher,
    steps: int,
    folder: Path,
) -> None:
    """In the layout of the `speculators` package, which vLLM and SGLang read.

    Without the embeddings, which readers take from the target.
    """
    config, settings = network.config, network.settings
    rows = torch.arange(len(ids))
    known = torch.zeros(config.vocab_size, dtype=torch.bool)
    known[ids] = True
    tensors = {
        name: weight.detach().to(torch.float16) for name, weight in network.state_dict().items()
    }
    layer = config.to_diff_dict() | {"rope_theta": config.rope_parameters["rope_theta"]}
    told = {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": "eagle3",
        "speculators_version": _SPECULATORS,
        "draft_vocab_size": len(ids),
        "target_hidden_size": settings.target_size,
        "eagle_aux_hidden_state_layer_ids": list(taps),
        "norm_before_residual": settings.norm_before_residual,
        "norm_before_fc": settings.norm_before_fc,
        "fc_norm": settings.fc_norm,
        "norm_output": settings.norm_output,
        "embed_requires_grad": False,
        "transformer_layer_config": layer,
        "dtype": "float16",
        "speculators_config": {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [
                {
                    "proposal_type": "greedy",
                    "speculative_tokens": steps,
                    "verifier_accept_k": 1,
                    "accept_tolerance": 0.0,
                }
            ],
            "verifier": {
                "name_or_path": teacher.name,
                "architectures": list(teacher.model.config.architectures or ()),
            },
        },
    }
    _write(folder, told, tensors | {"d2t": ids - rows, "t2d": known})


def publish_medusa(
    heads: Sequence[tuple[nn.Linear, nn.Parameter]],
    ids: torch.Tensor,
    teacher: Teacher,
    folder: Path,
) -> None:
    """In the layout of Medusa's own code, in one file of safetensors."""
    tensors: dict[str, torch.Tensor] = {}
    rows = teacher.rows(torch.arange(teacher.config.vocab_size)).to(torch.float16)
    for i, (linear, learnt) in enumerate(heads):
        own = rows.clone()
        own[ids] = learnt.detach().to(torch.float16)
        tensors |= {
            f"{i}.0.linear.weight": linear.weight.detach().to(torch.float16),
            f"{i}.0.linear.bias": linear.bias.detach().to(torch.float16),
            f"{i}.1.weight": own,
        }
    told = {
        "architectures": ["MedusaModel"],
        "model_type": "medusa",
        "medusa_num_heads": len(heads),
        "medusa_num_layers": 1,
        "hidden_size": teacher.config.hidden_size,
        "vocab_size": teacher.config.vocab_size,
        "base_model_name_or_path": teacher.name,
        "dtype": "float16",
    }
    _write(folder, told, tensors)


def publish_small(model: Any, tokenizer: Tokenizer, folder: Path) -> None:
    """A Transformers folder of float16 weights, with the tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        model.to(torch.float16).save_pretrained(folder)
    tokenizer.save(folder)


def _write(folder: Path, config: Mapping[str, Any], tensors: dict[str, torch.Tensor]) -> None:
    """config.json comes last: with it, all is there."""
    from safetensors.torch import save

    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").unlink(missing_ok=True)
        held = {name: tensor.contiguous() for name, tensor in tensors.items()}
        write_whole(folder / "model.safetensors", save(held, {"format": "pt"}))
        write_whole(folder / "config.json", json.dumps(config, indent=1) + "\n")
    except OSError as error:
        raise ForedraftError(
            f"{folder} cannot be written ({error.strerror}); make room or choose another --out."
        ) from error
