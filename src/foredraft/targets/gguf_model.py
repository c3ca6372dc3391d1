"""A GGUF file as a Transformers model of plain numbers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any

import torch

from foredraft.core.errors import ForedraftError
from foredraft.targets.gguf_config import architecture_of, config_of
from foredraft.targets.gguf_file import GGUFFile
from foredraft.targets.quiet import quiet

_THREADS = 2
"""NumPy frees the interpreter lock while it works, but more threads only wait for memory."""
_ROPE_FACTORS = "rope_freqs.weight"


def build(
    file: GGUFFile,
    dtype: torch.dtype,
    eos_ids: frozenset[int],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Any:
    """The model in `dtype` on the CPU, each tensor dequantized straight into its final place.

    A tensor that is missing, superfluous or of another shape is an error. `progress` hears of
    bytes of the file.
    """
    from transformers import AutoModelForCausalLM

    config = config_of(file)
    with torch.device("meta"):
        empty = AutoModelForCausalLM.from_config(config, dtype=dtype)
    names = _names(file, empty.state_dict(), config)
    weights, done = {}, 0
    total = sum(tensor.size for tensor in file.tensors.values())
    with ThreadPoolExecutor(_THREADS) as pool:
        read = pool.map(lambda stored: _tensor(file, stored, config, dtype), names.values())
        for (name, stored), weight in zip(names.items(), read, strict=True):
            weights[name] = weight
            done += file.tensors[stored].size
            progress(done, total)
    with quiet():  # from_pretrained keeps these tensors, it does not copy them
        model = type(empty).from_pretrained(
            None, config=config, state_dict=weights, dtype=dtype, attn_implementation="sdpa"
        )
    if _ROPE_FACTORS in file.tensors:  # Llama 3.1's stretched context, as llama.cpp applies it
        rotary = model.model.rotary_emb
        rotary.inv_freq /= _tensor(file, _ROPE_FACTORS, config, torch.float32)
        rotary.original_inv_freq = rotary.inv_freq.clone()
    model.generation_config.eos_token_id = sorted(eos_ids)
    return model


def _names(file: GGUFFile, wanted: dict[str, torch.Tensor], config: Any) -> dict[str, str]:
    """Transformers' name → the file's, for every weight of the model and every tensor there is."""
    from gguf import get_tensor_name_map
    from gguf.constants import MODEL_ARCH_NAMES

    arch = next(arch for arch, name in MODEL_ARCH_NAMES.items() if name == file.architecture)
    table = get_tensor_name_map(arch, config.num_hidden_layers)
    names = {}
    for name, like in wanted.items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        stem, _, suffix = name.rpartition(".")
        names[name] = stored = f"{table.get_name(stem)}.{suffix}"
        if stored not in file.tensors:
            raise ForedraftError(
                f"{file.path} lacks the tensor {stored}, which a {file.architecture} model needs; "
                "download or convert the model again."
            )
        if file.tensors[stored].shape != like.shape:
            raise ForedraftError(
                f"{file.path} stores {stored} as {file.tensors[stored].shape} where its header "
                f"describes {tuple(like.shape)}; download or convert the model again."
            )
    if extra := sorted(file.tensors.keys() - set(names.values()) - {_ROPE_FACTORS}):
        raise ForedraftError(
            f"{file.path} has {len(extra)} tensors that a plain {file.architecture} model has no "
            f"place for, such as {extra[0]}; name the model's Hugging Face repository instead."
        )
    return names


def _tensor(file: GGUFFile, name: str, config: Any, dtype: torch.dtype) -> torch.Tensor:
    """One tensor as Transformers stores it, made block by block so only one block is float32."""
    kind, shape = architecture_of(file), file.tensors[name].shape
    shift = kind.norm_shift if name.endswith("norm.weight") else 0.0
    flat = torch.empty(prod(shape), dtype=dtype)
    for first, values in file.blocks(name):
        # Shifted before rounding: near 1 a bfloat16 has few digits left for a small weight.
        block = torch.from_numpy(values - shift if shift else values)
        flat[first : first + block.numel()] = block
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    part = name.split(".")[-2]
    if kind.permuted and part in heads:
        # llama.cpp rotates neighbours, Transformers halves: [head, pair, 2] → [head, 2, pair]
        flat = flat.view(heads[part], -1, 2, prod(shape[1:])).transpose(1, 2)
    return flat.reshape(shape)
