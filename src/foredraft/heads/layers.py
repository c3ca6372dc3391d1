"""Decoder layers that draft heads are made of: Transformers' own, from a head's config."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers.models.llama import LlamaConfig
from transformers.models.llama import modeling_llama as llama
from transformers.models.qwen3 import Qwen3Config
from transformers.models.qwen3 import modeling_qwen3 as qwen3

from foredraft.core.errors import ForedraftError
from foredraft.targets.masks import FULL, SLIDING
from foredraft.targets.quiet import first_line, quiet

_SETTINGS = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "hidden_act",
    "rms_norm_eps",
    "attention_bias",
    "mlp_bias",
    "max_position_embeddings",
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "layer_types",
    "sliding_window",
)
"""What decides a layer's numbers; the rest of a head's config.json is about other things."""
_COUNTS = (*_SETTINGS[:7], "sliding_window", "max_position_embeddings")
_MOST = 1 << 24


@dataclass(frozen=True, slots=True)
class Pieces:
    """The classes one family of models builds its layers from."""

    config: type[Any]
    attention: type[nn.Module]
    mlp: type[nn.Module]
    norm: type[nn.Module]
    layer: type[nn.Module]
    rotary: type[nn.Module]


_LLAMA = Pieces(
    LlamaConfig,
    llama.LlamaAttention,
    llama.LlamaMLP,
    llama.LlamaRMSNorm,
    llama.LlamaDecoderLayer,
    llama.LlamaRotaryEmbedding,
)
_QWEN3 = Pieces(
    Qwen3Config,
    qwen3.Qwen3Attention,
    qwen3.Qwen3MLP,
    qwen3.Qwen3RMSNorm,
    qwen3.Qwen3DecoderLayer,
    qwen3.Qwen3RotaryEmbedding,
)


def pieces_of(config: Any) -> Pieces:
    """Qwen3's where queries and keys have a norm for each attention head, else Llama's."""
    return _QWEN3 if config.model_type == "qwen3" else _LLAMA


def layer_config(raw: Mapping[str, Any], head_norms: bool = False, attention: str = "sdpa") -> Any:
    """The Transformers config of a head's layers from its config.json.

    `head_norms` says that its tensors hold q_norm and k_norm; `attention` is the implementation's
    name, the target's own for a head that runs beside it.
    """
    told = {key: raw[key] for key in _SETTINGS if raw.get(key) is not None}
    for count in _COUNTS:
        if not isinstance(told.get(count, 1), int) or not 1 <= told.get(count, 1) <= _MOST:
            raise _unbuildable(f"{count} is {told[count]!r}")
    layers = told.setdefault("num_hidden_layers", 1)
    try:
        rope = told.get("rope_parameters", {})
        if FULL in rope:  # one for each kind of layer: drafts are trained with the window's
            told["rope_parameters"] = rope.get(SLIDING, rope[FULL])
        # Without kinds, Transformers would take a window in the config for one in every layer; and
        # configs made from a target's may list all of the target's.
        kinds = told["layer_types"] = list(told.get("layer_types", [FULL] * layers))[:layers]
        if head_norms:
            told["use_sliding_window"] = True  # where layer_types say so
        with quiet():
            config = (_QWEN3 if head_norms else _LLAMA).config(**told)
            pieces = pieces_of(config)
            with torch.device("meta"):
                pieces.layer(config, 0)
            pieces.rotary(config)
    except Exception as error:
        raise _unbuildable(first_line(error)) from error
    if not {FULL, SLIDING}.issuperset(kinds) or (SLIDING in kinds and "sliding_window" not in told):
        raise _unbuildable(f"they are {', '.join(sorted(set(kinds)))}, or lack a sliding_window")
    config._attn_implementation = attention
    return config


def _unbuildable(why: str) -> ForedraftError:
    return ForedraftError(
        f"The head's config.json describes no layers that can be built ({why}); check that it is "
        "complete."
    )


class Network(nn.Module):
    """What a head computes with: a module that has a config, as the cache and masks need it."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config

    @property
    def dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def rotary(self) -> nn.Module:
        """What turns positions [1, rows] into the rotations of queries and keys."""
        made: nn.Module = pieces_of(self.config).rotary(self.config).to(self.device)
        return made


@dataclass(frozen=True, slots=True)
class Pass:
    """What layers must know of the rows they run: where these stand, and what they may see."""

    rope: tuple[torch.Tensor, torch.Tensor]
    masks: Any = None
    """An additive mask [1, 1, rows, slots], one for each kind of layer, or None: all before it."""
    cache: Any = None

    def of(self, config: Any, layer: int) -> dict[str, Any]:
        """The keyword arguments of Transformers' attention and decoder layers."""
        mask = self.masks
        if isinstance(mask, dict):
            mask = mask[config.layer_types[layer]]
        return {"attention_mask": mask, "position_embeddings": self.rope, "cache": self.cache}
