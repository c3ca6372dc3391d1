"""Several sequences in one pass of a Transformers model: one product over all rows, attention
sequence by sequence, each over keys and values that stay in its own cache."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AttentionInterface
from transformers.cache_utils import Cache, CacheLayerMixin

from foredraft.targets.attention import GROUPED_HEADS, asks_by_name, grouped
from foredraft.targets.masks import Stretch, known, sees_all

_NAME = "foredraft_together"
_ODD = ("position_bias", "softcap", "s_aux")
"""What a model may ask of its attention besides, and does not get from this one."""


def may_suit(model: Any) -> bool:
    """Whether a pass of several sequences is worth a try; a trial must show that it is right.

    What a trial with short texts would not show is ruled out here: attention to part of a text
    other than a window, and angles of positions that the longest text of a pass decides.
    """
    config = model.config.get_text_config(decoder=True)
    ropes = getattr(config, "rope_parameters", None) or {}
    kinds = [rope for rope in (ropes, *ropes.values()) if isinstance(rope, dict)]
    return (
        config._attn_implementation in ("sdpa", GROUPED_HEADS)
        and not asks_by_name(type(model))
        and known(config)
        and not any(rope.get("rope_type") in ("dynamic", "longrope") for rope in kinds)
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """One sequence's rows, and the keys and values they attend to."""

    rows: int
    keys: torch.Tensor
    values: torch.Tensor
    masked: bool


class _JoinedLayer(CacheLayerMixin):  # type: ignore[misc]
    """Gives each sequence's layer its rows; answers with pieces in the place of two tensors."""

    def __init__(self, layers: Sequence[Any], rows: list[int], masked: Sequence[bool]) -> None:
        super().__init__()
        self.layers, self.rows, self.masked = layers, rows, masked

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Each sequence's layer sees to itself."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[list[_Piece], list[_Piece]]:
        new = zip(_parts(key_states, self.rows), _parts(value_states, self.rows), strict=True)
        held = [layer.update(*states) for layer, states in zip(self.layers, new, strict=True)]
        pieces = [
            _Piece(rows, keys, values, masked)
            for rows, (keys, values), masked in zip(self.rows, held, self.masked, strict=True)
        ]
        return pieces, pieces

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        raise NotImplementedError("the mask of several sequences is ready made")

    def get_seq_length(self) -> int:
        raise NotImplementedError("several sequences have no one length")

    def get_max_length(self) -> int:
        return -1


def joined(model: Any, caches: Sequence[Cache], stretches: Sequence[Stretch]) -> Cache:
    """The caches of several sequences as one, for a pass of these rows."""
    config = model.config.get_text_config(decoder=True)
    rows = [len(stretch.parents) for stretch in stretches]
    masked = [not sees_all(config, stretch) for stretch in stretches]
    layers = zip(*(cache.layers for cache in caches), strict=True)
    return Cache(layers=[_JoinedLayer(layer, rows, masked) for layer in layers])


def _parts(states: torch.Tensor, rows: Sequence[int]) -> Sequence[torch.Tensor]:
    parts: Sequence[torch.Tensor] = torch.split_with_sizes(states, rows, 2)
    return parts


@contextmanager
def attending(model: Any) -> Iterator[None]:
    """Within, the model's attention takes what a joined cache answers."""
    config = model.config.get_text_config(decoder=True)
    usual = config._attn_implementation
    AttentionInterface.register(_NAME, _attend)
    config._attn_implementation = _NAME
    try:
        yield
    finally:
        config._attn_implementation = usual


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: list[_Piece],
    value: list[_Piece],
    attention_mask: torch.Tensor,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """The library's interface, [1, heads, rows, width] → [1, rows, heads, width], in pieces."""
    if any(kwargs.get(name) is not None for name in _ODD) or attention_mask.shape[1] != 1:
        raise NotImplementedError(f"{type(module).__name__} asks for another attention")
    seen, row = [], 0
    for piece, part in zip(key, _parts(query, [piece.rows for piece in key]), strict=True):
        mask = None
        if piece.masked:
            mask = attention_mask[:, :, row : row + piece.rows, : piece.keys.shape[2]]
        seen.append(grouped(part, piece.keys, piece.values, mask, scaling))
        row += piece.rows
    return torch.cat(seen, 2).transpose(1, 2).contiguous(), None
