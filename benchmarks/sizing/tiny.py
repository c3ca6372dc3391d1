"""Tiny Llama-style drafts with a target's vocabulary."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from foredraft.targets.quiet import quiet
from foredraft.targets.tokenizer import Tokenizer

_CONTEXT = 4096
_HEAD = 32
_TOLD = "training.json"


@dataclass(frozen=True, slots=True)
class Size:
    """The width of the residual stream, and the layers."""

    width: int
    layers: int

    @property
    def name(self) -> str:
        return f"tiny-{self.width}x{self.layers}"


SIZES = (Size(64, 1), Size(128, 2), Size(256, 2), Size(512, 2))


def coordinates(embedding: torch.Tensor, count: int) -> torch.Tensor:
    """A target's embedding [V, D] along its `count` principal axes, the longest first."""
    centred = embedding - embedding.mean(0)
    _, axes = torch.linalg.eigh(centred.T @ centred)  # ascending
    return centred @ axes[:, -count:].flip(1)


def build(size: Size, rows: torch.Tensor, eos: frozenset[int]) -> Any:
    """An untrained model whose input and output rows both are `rows` [V, width], scaled so that
    they have length 1 on average: what the target knows of its tokens need not be learnt."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    heads = size.width // _HEAD
    config = LlamaConfig(
        vocab_size=len(rows),
        hidden_size=size.width,
        intermediate_size=3 * size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=_HEAD,
        max_position_embeddings=_CONTEXT,
        initializer_range=0.7 * size.width**-0.5,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=sorted(eos),
    )
    model = LlamaForCausalLM(config)
    model.get_input_embeddings().weight.data.copy_(rows / rows.square().sum(1).mean().sqrt())
    return model


def save(model: Any, tokenizer: Tokenizer, told: dict[str, Any], folder: Path) -> None:
    """A Transformers folder of float16 weights, with what is told of its training; there whole or
    not at all."""
    temporary = folder.with_name(f".{folder.name}")
    shutil.rmtree(temporary, ignore_errors=True)
    with quiet():
        model.to(torch.float16).save_pretrained(temporary)
    tokenizer.save(temporary)
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
