"""What a GGUF header says about a model, as a Transformers configuration."""

from dataclasses import dataclass
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.targets.gguf_file import GGUFFile


@dataclass(frozen=True, slots=True)
class Architecture:
    """What a GGUF architecture is called in Transformers and how its numbers were changed."""

    model_type: str
    permuted: bool = False  # q and k rows interleaved for llama.cpp's rotary embedding
    norm_shift: float = 0.0  # added to norm weights, which Transformers stores around zero


ARCHITECTURES = {
    "llama": Architecture("llama", permuted=True),
    "qwen2": Architecture("qwen2"),
    "qwen3": Architecture("qwen3"),
    "gemma3": Architecture("gemma3_text", norm_shift=1.0),
}


def architecture_of(file: GGUFFile) -> Architecture:
    """The file's architecture, if it is one that can be turned into a Transformers model."""
    if found := ARCHITECTURES.get(file.architecture):
        return found
    raise ForedraftError(
        f"{file.path} is of architecture {file.architecture!r}, which is not supported as GGUF "
        f"({', '.join(ARCHITECTURES)} are); name the model's Hugging Face repository instead."
    )


def config_of(file: GGUFFile) -> Any:
    """The Transformers configuration of the model in the file."""
    from transformers import AutoConfig

    model_type = architecture_of(file).model_type
    width, heads = _needed(file, "embedding_length"), _needed(file, "attention.head_count")
    head = _given(file, "attention.key_length", width // heads)
    depth = _needed(file, "block_count")
    settings = {
        "vocab_size": _vocab_size(file),
        "hidden_size": width,
        "intermediate_size": _needed(file, "feed_forward_length"),
        "num_hidden_layers": depth,
        "num_attention_heads": heads,
        "num_key_value_heads": _given(file, "attention.head_count_kv", heads),
        "head_dim": head,
        "max_position_embeddings": _needed(file, "context_length"),
        "rms_norm_eps": _needed(file, "attention.layer_norm_rms_epsilon"),
        "rope_theta": _given(file, "rope.freq_base", 10_000.0),
        "rope_scaling": _rope_scaling(file),
        "attention_bias": "blk.0.attn_q.bias" in file.tensors,
        "tie_word_embeddings": "output.weight" not in file.tensors,
        "bos_token_id": file.fields.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": file.fields.get("tokenizer.ggml.eos_token_id"),
        "pad_token_id": file.fields.get("tokenizer.ggml.padding_token_id"),
    }
    if model_type == "gemma3_text":
        settings["sliding_window"] = _needed(file, "attention.sliding_window")
        # The 27B, known by its depth, scales by the hidden size, and the file does not say so.
        settings["query_pre_attn_scalar"] = width // heads if depth == 62 else head
    return AutoConfig.for_model(model_type, **settings)


def _given(file: GGUFFile, field: str, default: Any) -> Any:
    """A field of the architecture, or what llama.cpp takes when the file does not state it."""
    name = f"{file.architecture}.{field}"
    value = file.fields.get(name, default)
    if value is None or isinstance(value, list):
        raise ForedraftError(
            f"{file.path} is not a plain {file.architecture} model, because its field {name} "
            f"{'is missing' if value is None else 'differs by layer'}; name the model's Hugging "
            "Face repository instead."
        )
    return value


def _needed(file: GGUFFile, field: str) -> Any:
    return _given(file, field, None)


def _vocab_size(file: GGUFFile) -> int:
    """Rows of the embedding: the tokens' count can be smaller where a model pads its vocabulary."""
    if "token_embd.weight" not in file.tensors:
        raise ForedraftError(
            f"{file.path} has no token_embd.weight, so it is not a whole language model; "
            "use the model's main GGUF file."
        )
    return file.tensors["token_embd.weight"].shape[0]


def _rope_scaling(file: GGUFFile) -> dict[str, Any] | None:
    kind = _given(file, "rope.scaling.type", "none")
    if kind == "none":
        return None
    if kind not in ("linear", "yarn"):
        raise ForedraftError(
            f"{file.path} stretches its context with rope scaling {kind!r}, which is not supported "
            "as GGUF; name the model's Hugging Face repository instead."
        )
    scaling = {"rope_type": kind, "factor": _needed(file, "rope.scaling.factor")}
    if kind == "yarn":
        original = _needed(file, "rope.scaling.original_context_length")
        scaling["original_max_position_embeddings"] = original
    return scaling
