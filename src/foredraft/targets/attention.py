"""Attention on a CPU that reads each key and value once, however many query heads share it.

Under a mask the library copies keys and values for every query head, in every layer and pass:
most of what verifying costs once the text is long.
"""

import inspect
import re
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

GROUPED_HEADS = "foredraft_grouped_heads"
_MOST_ROWS = 64
"""Beyond, as in a prefill, the product outweighs the copies."""


def group_heads(model: Any) -> bool:
    """Let a CPU model that uses PyTorch's attention use this one; False where it does not apply."""
    if model.device.type != "cpu" or model.config._attn_implementation != "sdpa":
        return False
    if asks_by_name(type(model)):
        return False
    AttentionInterface.register(GROUPED_HEADS, _attend)
    AttentionMaskInterface.register(GROUPED_HEADS, sdpa_mask)
    model.set_attn_implementation(GROUPED_HEADS)
    return True


def asks_by_name(kind: type) -> bool:
    """Whether a model's code compares the name of its attention: another name would mislead it."""
    try:
        source = inspect.getsource(inspect.getmodule(kind) or kind)
    except OSError:
        return True
    return re.search(r"_attn_implementation\s*(==|!=|in\b|not in\b)", source) is not None


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """The library's interface: [batch, heads, rows, width] → [batch, rows, heads, width]."""
    if (
        attention_mask is None
        or attention_mask.shape[1] != 1
        or query.shape[1] == key.shape[1]
        or query.shape[2] > _MOST_ROWS
        or kwargs.get("position_bias") is not None
    ):
        plain: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **kwargs
        )
        return plain
    seen = grouped(query, key, value, attention_mask, scaling)
    return seen.transpose(1, 2).contiguous(), None


def grouped(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float | None,
) -> torch.Tensor:
    """What the rows see, [batch, heads, rows, width]; without a mask, all of it."""
    batch, heads, rows, width = query.shape
    shared = heads // key.shape[1]
    # The heads that share a key become rows of one head, which attends to that key as it lies.
    packed = query.reshape(batch, key.shape[1], shared * rows, width)
    if mask is not None:
        mask = mask.repeat(1, 1, shared, 1)
    seen = scaled_dot_product_attention(packed, key, value, attn_mask=mask, scale=scaling)
    return seen.reshape(batch, heads, rows, -1)
