"""What each layer of a Transformers model keeps, by its configuration."""

from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.planner.facts.cache import LayerCache

_WINDOWED = {"sliding_attention", "hybrid_sliding", "chunked_attention"}
_HYBRID = {"hybrid", "hybrid_sliding"}
_RECURRENT = {"linear_attention", *_HYBRID}
_COMPRESSED = {"compressed_sparse_attention", "heavily_compressed_attention"}
"""DeepSeek 4's, whose running summaries cannot be cut back either."""
_NOTHING = {"moe", "mlp", "dummy"}
_STATES_ONLY = ("rwkv", "xlstm", "mamba")
"""Model types whose configurations say nothing of their layers."""
_MOST = 10_000
"""More layers than any model has: such a file is damaged, and a list of them fills memory."""


def layers(config: Any) -> tuple[LayerCache, ...]:
    """One entry a layer. With latent attention (MLA) the latents are counted, as serving engines
    keep them; Transformers itself keeps the keys and values made of them.
    """
    kinds = _kinds(config)
    each = getattr(config, "per_layer_config", None) or [config] * len(kinds)
    return tuple(_layer(kind, own) for kind, own in zip(kinds, each, strict=False))


def _kinds(config: Any) -> list[str]:
    """Each layer's type, in the words of Transformers."""
    count = number(config, "num_hidden_layers", "n_layer") or 0
    if count > _MOST:
        raise ForedraftError(
            f"A config.json speaks of {count:,} layers, which no model has; download it again."
        )
    kinds = getattr(config, "layer_types", None)
    if kinds is None and str(getattr(config, "model_type", "")).startswith(_STATES_ONLY):
        kinds = ["linear_attention"] * count
    if kinds is None:
        slides = getattr(config, "sliding_window", None) and getattr(
            config, "use_sliding_window", True
        )
        kinds = ["sliding_attention" if slides else "full_attention"] * count
    shared = getattr(config, "kv_sharing_modes", None) or [None] * len(kinds)
    return ["dummy" if mode == "reuse" else kind for kind, mode in zip(kinds, shared, strict=False)]


def _layer(kind: str, config: Any) -> LayerCache:
    if kind in _NOTHING:
        return LayerCache()
    if kind == "conv":
        return LayerCache(state=_product(config, "hidden_size", "conv_L_cache"))
    if kind == "linear_attention":
        return LayerCache(state=_state(config), recurrent=True)
    window = number(config, "sliding_window", "attention_chunk_size") if kind in _WINDOWED else None
    return LayerCache(
        values=_values(config),
        window=window,
        state=_state(config) if kind in _HYBRID else 0,
        recurrent=kind in _RECURRENT | _COMPRESSED,
    )


def _values(config: Any) -> int:
    """Numbers an attention layer keeps for a token."""
    if latent := getattr(config, "kv_lora_rank", None):
        return int(latent + (number(config, "qk_rope_head_dim") or 0))
    heads = number(config, "num_attention_heads", "n_head") or 1
    groups = number(config, "num_key_value_heads") or heads
    width = number(config, "head_dim") or (number(config, "hidden_size", "n_embd") or 0) // heads
    return 2 * groups * width


def _state(config: Any) -> int:
    """Numbers a recurrent layer keeps: what its convolution saw last, and its memory."""
    if values := _product(config, "linear_num_value_heads", "linear_value_head_dim"):
        keys = _product(config, "linear_num_key_heads", "linear_key_head_dim")
        seen = number(config, "linear_conv_kernel_dim") or 0
        return seen * (2 * keys + values) + values * (number(config, "linear_key_head_dim") or 0)
    inner = (
        _product(config, "mamba_n_heads", "mamba_d_head")
        or _product(config, "mamba_num_heads", "mamba_head_dim")
        or (number(config, "expand", "mamba_expand") or 0) * (number(config, "hidden_size") or 0)
    )
    memory = number(config, "mamba_d_state", "ssm_state_size", "state_size") or 0
    seen = number(config, "mamba_d_conv", "conv_kernel") or 0
    groups = number(config, "mamba_n_groups", "n_groups") or 0
    return seen * (inner + 2 * groups * memory) + inner * memory


def number(config: Any, *names: str) -> int | None:
    """The first of the settings that the configuration has as a number."""
    found = (getattr(config, name, None) for name in names)
    return next((int(value) for value in found if isinstance(value, int | float)), None)


def _product(config: Any, left: str, right: str) -> int:
    return (number(config, left) or 0) * (number(config, right) or 0)
