"""Models as facts and as tiny files: no weights, only what describes them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFWriter

from foredraft.planner.facts.cache import LayerCache
from foredraft.planner.facts.model import Format, ModelFacts, Vocabulary

TOKENS = [f"t{n}" for n in range(300)]


def vocabulary(tokens: Sequence[str | None] = TOKENS, **changes: Any) -> Vocabulary:
    """A byte-level vocabulary of these entries; None is a hole."""
    made = Vocabulary(
        kind="gpt2",
        tokens=tuple(tokens),
        pieces=tuple(None if text is None else text.encode() for text in tokens),
        merges=("a b",),
        roles={"bos": 1, "eos": 2},
        add_bos=False,
        add_eos=False,
        template="{{ messages }}",
    )
    return replace(made, **changes)


def facts(name: str = "big", tokens: Vocabulary | None = None, **changes: Any) -> ModelFacts:
    """A GGUF model with 300 tokens unless it is changed."""
    tokens = tokens or vocabulary()
    made = ModelFacts(
        name=name,
        where=name,
        format=Format.GGUF,
        architecture="llama",
        known=True,
        vocab_size=len(tokens.tokens),
        hidden_size=64,
        context=32768,
        weights=1000,
        layers=(LayerCache(values=10),),
        vocabulary=tokens,
    )
    return replace(made, **changes)


def folder_facts(name: str = "org/big", **changes: Any) -> ModelFacts:
    """The same as a Hugging Face repository."""
    return facts(name, **{"format": Format.TRANSFORMERS, **changes})


def gguf(
    path: Path,
    arch: str = "llama",
    tokens: Sequence[str] | None = TOKENS,
    numbers: dict[str, Any] | None = None,
    tensors: Sequence[str] = ("token_embd.weight", "blk.0.attn_norm.weight"),
    flags: dict[str, bool] | None = None,
    split: tuple[int, int] | None = None,
) -> Path:
    """A GGUF file of one layer unless `numbers` say otherwise; its tensors are a few zeros."""
    writer = GGUFWriter(path, arch)
    usual = {
        "block_count": 1,
        "context_length": 256,
        "embedding_length": 64,
        "attention.head_count": 4,
    }
    for name, value in {**usual, **(numbers or {})}.items():
        if isinstance(value, list):
            writer.add_array(f"{arch}.{name}", value)
        else:
            writer.add_uint32(f"{arch}.{name}", value)
    for name, flag in (flags or {}).items():
        writer.add_bool(name, flag)
    if split:
        writer.add_uint16("split.no", split[0])
        writer.add_uint16("split.count", split[1])
    if tokens is not None:
        writer.add_tokenizer_model("gpt2")
        writer.add_token_list(list(tokens))
        writer.add_token_types([1] * len(tokens))
        writer.add_token_merges(["a b"])
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
    for name in tensors:
        rows = len(tokens or TOKENS) if name == "token_embd.weight" else 1
        writer.add_tensor(name, np.zeros((rows, 8), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


CONFIG = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 320,
    "max_position_embeddings": 256,
    "eos_token_id": 2,
}


def folder(path: Path, tokens: Sequence[str] | None = TOKENS, **config: Any) -> Path:
    """A Transformers folder without weights."""
    path.mkdir()
    (path / "config.json").write_text(json.dumps(CONFIG | config))
    if tokens is not None:
        made = {
            "model": {
                "type": "BPE",
                "vocab": {text: i for i, text in enumerate(tokens)},
                "merges": [["a", "b"]],
            },
            "decoder": {"type": "ByteLevel"},
            "added_tokens": [],
        }
        (path / "tokenizer.json").write_text(json.dumps(made))
    return path


def safetensors(path: Path, sizes: dict[str, int]) -> None:
    """A safetensors file of tensors that take so many bytes."""
    entries, at = {}, 0
    for name, size in sizes.items():
        entries[name] = {"dtype": "U8", "shape": [size], "data_offsets": [at, at + size]}
        at += size
    header = json.dumps(entries).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(at))
