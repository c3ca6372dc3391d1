"""Tiny models and a tokenizer written as GGUF the way llama.cpp's converter writes them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import dequantize, quantize
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM

F32 = GGMLQuantizationType.F32
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for m in messages %}"
    "{% if m.role == 'robot' %}{{ raise_exception('no robots') }}{% endif %}"
    "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant"
)
_TEXT = ["the tide comes in twice a day", "and twice a day the tide goes out", "x = 1; y = 22"]
_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "input_layernorm": "attn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_LFM2_NAMES = {
    "model.embedding_norm": "token_embd_norm",
    "conv.conv": "shortconv.conv",
    "conv.in_proj": "shortconv.in_proj",
    "conv.out_proj": "shortconv.out_proj",
    "self_attn.out_proj": "attn_output",
    "self_attn.q_layernorm": "attn_q_norm",
    "self_attn.k_layernorm": "attn_k_norm",
    "feed_forward.w1": "ffn_gate",
    "feed_forward.w2": "ffn_down",
    "feed_forward.w3": "ffn_up",
    "operator_norm": "attn_norm",
    "ffn_norm": "ffn_norm",
}


def tokenizer() -> Tokenizer:
    """A byte-level BPE with a few merges."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(_TEXT, trainer)
    return made


def model(kind: str, seed: int = 0, **changes: Any) -> Any:
    """A random model whose every weight, norms and biases included, differs from its default."""
    shape: dict[str, Any] = {
        "vocab_size": 320,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": 256,
        "rope_theta": 500.0,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": True,
    }
    if kind == "gemma3":
        shape |= {"sliding_window": 4, "query_pre_attn_scalar": 16}
    if kind == "lfm2":
        shape |= {"layer_types": ["conv", "full_attention"], "block_auto_adjust_ff_dim": False}
    config = AutoConfig.for_model("gemma3_text" if kind == "gemma3" else kind, **shape | changes)
    torch.manual_seed(seed)
    made = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").eval()
    with torch.no_grad():
        for weight in made.parameters():
            weight.copy_(torch.randn_like(weight) * 0.2)
    return made


def write(
    path: Path,
    kind: str,
    made: Any,
    store: GGMLQuantizationType = F32,
    *,
    drop: str = "",
    extra: dict[str, np.ndarray] | None = None,
    fields: dict[str, Any] | None = None,
    pre: str = "gpt-2",
    template: str | None = TEMPLATE,
) -> Path:
    """`made` as a GGUF file; its matrices take the values that `store` rounds them to.

    `drop` leaves out what contains it, `extra` adds tensors, `fields` adds integer fields.
    """
    config = made.config
    writer = GGUFWriter(path, kind)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    heads = config.num_key_value_heads
    if kind == "lfm2":  # no heads: a layer that keeps a state instead of keys and values
        writer.add_head_count_kv([0 if t == "conv" else heads for t in config.layer_types])
        writer.add_shortconv_l_cache(config.conv_L_cache)
    else:
        writer.add_head_count_kv(heads)
    writer.add_key_length(getattr(config, "head_dim", 16))
    writer.add_layer_norm_rms_eps(getattr(config, "rms_norm_eps", 1e-5))
    writer.add_rope_freq_base(500.0)
    if kind == "gemma3":
        writer.add_sliding_window(config.sliding_window)
    for name, value in (fields or {}).items():
        writer.add_uint32(name, value)
    _add_tokenizer(writer, pre, template)
    seen = set()
    for name, weight in made.named_parameters():
        stored, values = _as_stored(kind, config, name, weight, store)
        if drop and drop in stored:
            continue
        seen.add(stored)
        quantized = store if values.ndim == 2 else F32
        writer.add_tensor(stored, quantize(values, quantized), raw_dtype=quantized)
    for name, values in (extra or {}).items():
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer: GGUFWriter, pre: str, template: str | None) -> None:
    made = tokenizer()
    vocabulary = sorted(made.get_vocab().items(), key=lambda entry: entry[1])
    tokens = [token for token, _ in vocabulary]
    tokens += [f"[PAD{n}]" for n in range(len(tokens), 320)]
    merges = [" ".join(pair) for pair in _merges(made)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    kinds = [3 if t in SPECIAL else 5 if t.startswith("[PAD") else 1 for t in tokens]
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(2)
    writer.add_bos_token_id(1)
    writer.add_add_bos_token(False)
    if template:
        writer.add_chat_template(template)


def _merges(made: Tokenizer) -> list[list[str]]:
    return [list(pair) for pair in json.loads(made.to_str())["model"]["merges"]]


def _as_stored(
    kind: str, config: Any, name: str, weight: torch.Tensor, store: GGMLQuantizationType
) -> tuple[str, np.ndarray]:
    """(GGUF name, values), with the model's own weight set to what will be read back."""
    values = weight.detach().numpy()
    if values.ndim == 3:  # a convolution over one channel
        weight, values = weight[:, 0], values[:, 0]
    if values.ndim == 2:
        rounded = dequantize(quantize(values, store), store)
        with torch.no_grad():
            weight.copy_(torch.from_numpy(rounded.copy()))
        values = rounded
    stem, suffix = name.rsplit(".", 1)
    prefix = ""
    if stem.startswith("model.layers."):
        _, _, block, stem = stem.split(".", 3)
        prefix = f"blk.{block}."
    names = _NAMES | (
        _LFM2_NAMES
        if kind == "lfm2"
        else {
            "post_attention_layernorm": "post_attention_norm",
            "pre_feedforward_layernorm": "ffn_norm",
            "post_feedforward_layernorm": "post_ffw_norm",
        }
        if kind == "gemma3"
        else {"post_attention_layernorm": "ffn_norm"}
    )
    if kind == "llama" and stem in ("self_attn.q_proj", "self_attn.k_proj"):
        heads = config.num_attention_heads if "q_proj" in stem else config.num_key_value_heads
        pairs = values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:])
        values = pairs.swapaxes(1, 2).reshape(values.shape)
    if kind == "gemma3" and "norm" in stem:
        values = values + 1
    return f"{prefix}{names[stem]}.{suffix}", np.ascontiguousarray(values)
