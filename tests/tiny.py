"""Tiny random models and a character tokenizer: whole-engine tests in seconds."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    Gemma4ForCausalLM,
    Gemma4TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3NextConfig,
    Qwen3NextForCausalLM,
)

from foredraft.targets.torch_hf import TorchTarget

VOCAB = 32

# Two threads only get in each other's way on matrices this small.
torch.set_num_threads(1)


class Characters:
    """One token a character: ids 0…25 are letters, 26 a space, 31 the end."""

    letters = "abcdefghijklmnopqrstuvwxyz .,!"
    has_template = True
    template = ""

    def __init__(self, eos: Sequence[int] = (31,)) -> None:
        self.eos_ids = self.special_ids = frozenset(eos)

    def encode(self, text: str) -> list[int]:
        return [self.letters.index(c) for c in text]

    spell = encode

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.letters[i] for i in ids if i < len(self.letters))

    def spelling(self, token: int) -> bytes:
        return self.decode([token]).encode()

    def chat(self, messages: Sequence[dict[str, str]], **options: object) -> list[int]:
        return self.encode(" ".join(m["content"] for m in messages))


_SHAPE: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.3,
}


def model(kind: str = "llama", seed: int = 0, **changes: Any) -> Any:
    """A random model of one architecture, peaked enough that drafts are sometimes right."""
    torch.manual_seed(seed)
    shape = _SHAPE | changes
    built: Any
    if kind == "llama":
        built = LlamaForCausalLM(LlamaConfig(**shape))
    elif kind == "qwen2":
        built = Qwen2ForCausalLM(Qwen2Config(**shape))
    elif kind == "qwen3":
        built = Qwen3ForCausalLM(Qwen3Config(**shape, head_dim=8))
    elif kind == "mistral":
        built = MistralForCausalLM(MistralConfig(**shape, sliding_window=8))
    elif kind == "gemma3":
        config = Gemma3TextConfig(**shape, sliding_window=8, head_dim=8, layer_types=None)
        config.layer_types = ["sliding_attention", "full_attention"]
        built = Gemma3ForCausalLM(config)
    elif kind == "gemma4":  # its last two layers read the keys and values of the two before
        heads = {"head_dim": 8, "global_head_dim": 16, "sliding_window": 8}
        layers = ["sliding_attention", "full_attention"] * 3
        size = shape | {"num_hidden_layers": len(layers), "vocab_size_per_layer_input": VOCAB}
        size = {"num_kv_shared_layers": 2, "hidden_size_per_layer_input": 4} | size
        built = Gemma4ForCausalLM(Gemma4TextConfig(**heads, **size, layer_types=layers))
    else:
        built = Qwen3NextForCausalLM(
            Qwen3NextConfig(
                **shape,
                head_dim=8,
                linear_num_key_heads=2,
                linear_num_value_heads=4,
                linear_key_head_dim=8,
                linear_value_head_dim=8,
                num_experts=4,
                num_experts_per_tok=2,
                moe_intermediate_size=16,
                shared_expert_intermediate_size=16,
                decoder_sparse_step=1,
                layer_types=["linear_attention", "full_attention"],
            )
        )
    return built.eval().requires_grad_(False)


def target(kind: str = "llama", seed: int = 0, eos: Sequence[int] = (31,), **changes: Any) -> Any:
    return TorchTarget(model(kind, seed, **changes), Characters(eos), f"tiny-{kind}")
