"""Head folders as their makers write them: config.json and a .safetensors file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

HIDDEN, WIDE, VOCAB = 32, 48, 32
"""The hidden size, intermediate size and vocabulary of tests.tiny's models."""
DRAFTED = 12
"""Tokens in a draft vocabulary."""


def write(folder: Path, config: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(
        {name: value.contiguous() for name, value in tensors.items()}, folder / "m.safetensors"
    )
    return folder


def weights(
    shapes: Mapping[str, tuple[int, ...]], seed: int = 0, spread: float = 0.3
) -> dict[str, torch.Tensor]:
    """Random tensors; norms lie around one."""
    torch.manual_seed(seed)
    return {
        name: torch.randn(shape) * spread + (1.0 if "norm" in name else 0.0)
        for name, shape in shapes.items()
    }


def layer_shapes(
    prefix: str, size: int, reads: int, wide: int = WIDE, heads: int = 4
) -> dict[str, Any]:
    """A Llama layer whose attention reads `reads`: heads of width 8, half of them with keys."""
    return {
        f"{prefix}self_attn.q_proj.weight": (8 * heads, reads),
        f"{prefix}self_attn.k_proj.weight": (4 * heads, reads),
        f"{prefix}self_attn.v_proj.weight": (4 * heads, reads),
        f"{prefix}self_attn.o_proj.weight": (size, 8 * heads),
        f"{prefix}mlp.gate_proj.weight": (wide, size),
        f"{prefix}mlp.up_proj.weight": (wide, size),
        f"{prefix}mlp.down_proj.weight": (size, wide),
        f"{prefix}input_layernorm.weight": (size,),
        f"{prefix}post_attention_layernorm.weight": (size,),
    }


def llama(size: int = HIDDEN, **more: Any) -> dict[str, Any]:
    """A config of such layers."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": size,
        "intermediate_size": WIDE,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "rms_norm_eps": 1e-5,
        "vocab_size": VOCAB,
    } | more


def eagle3(
    size: int = HIDDEN,
    taps: int = 3,
    draft_vocab: int | None = DRAFTED,
    target: int = HIDDEN,
    vocab: int = VOCAB,
) -> dict[str, Any]:
    """The tensors of an EAGLE-3 head as SafeAI names them; `target` is the target's size."""
    rows = vocab if draft_vocab is None else draft_vocab
    shapes = {
        "fc.weight": (size, taps * target),
        "norm.weight": (size,),
        "lm_head.weight": (rows, size),
        "midlayer.hidden_norm.weight": (size,),
    }
    tensors = weights(shapes | layer_shapes("midlayer.", size, 2 * size))
    if draft_vocab is not None:
        ids = torch.arange(vocab)[1::2][:rows]
        tensors["d2t"] = ids - torch.arange(rows)
        tensors["t2d"] = torch.isin(torch.arange(vocab), ids)
    return tensors


def eagle(layers: int = 1, bias: bool = True, size: int = HIDDEN) -> dict[str, Any]:
    """The tensors of an EAGLE head as SafeAI names them."""
    shapes: dict[str, Any] = {"fc.weight": (size, 2 * size)}
    if bias:
        shapes["fc.bias"] = (size,)
    for layer in range(layers):
        shapes |= layer_shapes(f"layers.{layer}.", size, size)
    del shapes["layers.0.input_layernorm.weight"]
    return weights(shapes, spread=0.1)  # its output goes to the target's matrix as it is


BLOCK = 6
"""Rows of a block."""


def dflash(taps: int = 2, layers: int = 2, size: int = HIDDEN) -> dict[str, Any]:
    """The tensors of a DFlash head as z-lab names them."""
    shapes = {
        "fc.weight": (size, taps * size),
        "hidden_norm.weight": (size,),
        "norm.weight": (size,),
    }
    for layer in range(layers):
        prefix = f"layers.{layer}."
        norms = {f"{prefix}self_attn.{name}_norm.weight": (8,) for name in "qk"}
        shapes |= layer_shapes(prefix, size, size) | norms
    return weights(shapes)


def z_lab(layers: int = 2, ids: Sequence[int] = (0, 1), **more: Any) -> dict[str, Any]:
    """A config of such a head for a target of two layers."""
    config = llama() | {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "num_hidden_layers": layers,
        "num_target_layers": 2,
        "block_size": BLOCK,
        "dflash_config": {"mask_token_id": 30, "target_layer_ids": list(ids)},
    }
    return config | more


def dspark(
    kind: str = "vanilla", taps: int = 2, size: int = HIDDEN, vocab: int = VOCAB, rank: int = 4
) -> dict[str, Any]:
    """The tensors of a DSpark head as DeepSpec names them."""
    shapes: dict[str, tuple[int, ...]] = {
        "markov_head.markov_w1.weight": (vocab, rank),
        "markov_head.markov_w2.weight": (vocab, rank),
        "confidence_head.proj.weight": (1, size + rank),
        "confidence_head.proj.bias": (1,),
    }
    if kind == "gated":
        shapes["markov_head.gate_proj.weight"] = (rank, size + rank)
        shapes["markov_head.gate_proj.bias"] = (rank,)
    if kind == "rnn":
        shapes["markov_head.joint_proj.weight"] = (3 * rank, size + 2 * rank)
        shapes["markov_head.joint_proj.bias"] = (3 * rank,)
    return dflash(taps, size=size) | weights(shapes, seed=1)


def peagle(size: int = HIDDEN, vocab: int = VOCAB, drafted: int = DRAFTED) -> dict[str, Any]:
    """The tensors of a P-EAGLE head of two layers as AWS names them."""
    shapes = {
        "fc.weight": (size, 3 * size),
        "mask_hidden": (1, 1, 3 * size),
        "midlayer.hidden_norm.weight": (size,),
        "norm.weight": (size,),
        "lm_head.weight": (drafted, size),
    }
    shapes |= layer_shapes("midlayer.", size, 2 * size) | layer_shapes("layers.1.", size, size)
    ids = torch.arange(vocab)
    ids = ids[ids % 3 != 1][:drafted]
    return weights(shapes) | {"d2t": ids - torch.arange(drafted)}


def aws(**more: Any) -> dict[str, Any]:
    """A config of such a head for a target of two layers."""
    config = llama(num_hidden_layers=2, draft_vocab_size=DRAFTED) | {
        "architectures": ["LlamaForCausalLMEagle3"],
        "ptd_token_id": 30,
        "eagle_aux_hidden_state_layer_ids": [0, 1, 2],
    }
    return config | more


def medusa(
    heads: int = 3, blocks: int = 1, rows: int = VOCAB, before: str = "", size: int = HIDDEN
) -> dict[str, torch.Tensor]:
    """The tensors of Medusa heads; without output matrices if `rows` is 0."""
    shapes: dict[str, tuple[int, ...]] = {}
    for head in range(heads):
        for block in range(blocks):
            shapes[f"{before}{head}.{block}.linear.weight"] = (size, size)
            shapes[f"{before}{head}.{block}.linear.bias"] = (size,)
        if rows:
            shapes[f"{before}{head}.{blocks}.weight"] = (rows, size)
    return weights(shapes)


def hydra(
    plus: bool = False,
    grounded: bool = True,
    heads: int = 3,
    blocks: int = 2,
    rows: int = VOCAB,
    size: int = HIDDEN,
) -> dict[str, torch.Tensor]:
    """The tensors of Hydra heads, or those of Hydra++, whose names also count its dropouts."""
    shapes: dict[str, tuple[int, ...]] = {}
    step, out = (2, "1.") if plus else (1, "")
    for head in range(heads):
        for block in range(blocks):
            name = f"hydra_mlp.{head}.{step * block + step - 1}."
            condenses = grounded and not block
            reads = size * (head + 2 if condenses else 1)
            for part in ("linear", "res_connection")[: 2 if condenses else 1]:
                shapes[f"{name}{part}.weight"] = (size, reads)
                shapes[f"{name}{part}.bias"] = (size,)
        shapes[f"hydra_lm_head.{head}.{out}weight"] = (rows, size)
        shapes[f"hydra_lm_head.{head}.{out}bias"] = (rows,)
    if plus:
        before = "prefix_embeding_layer."
        shapes |= _like_the_target(f"{before}layers.0.", size)
        shapes |= {f"{before}norm.weight": (size,), f"{before}embed_tokens.weight": (3, 3)}
    return weights(shapes)


def mtp(modules: int, layers: int = 2, size: int = HIDDEN) -> dict[str, torch.Tensor]:
    """Modules for a target of Llama layers, in the layout of DeepSeek."""
    shapes: dict[str, tuple[int, ...]] = {}
    for module in range(modules):
        before = f"model.layers.{layers + module}."
        shapes |= _like_the_target(before, size)
        shapes |= {f"{before}{name}norm.weight": (size,) for name in ("e", "h", "shared_head.")}
        shapes[f"{before}eh_proj.weight"] = (size, 2 * size)
    return weights(shapes)


def _like_the_target(prefix: str, size: int) -> dict[str, Any]:
    """A layer as those of tests.tiny's models of this size are."""
    return layer_shapes(prefix, size, size, 3 * size // 2, size // 8)
