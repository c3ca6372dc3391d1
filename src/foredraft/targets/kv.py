"""Key/value caches that can take tokens back: by slots for attention, by snapshots for the rest."""

import copy
from collections.abc import Sequence
from typing import Any

import torch
from transformers.cache_utils import (
    Cache,
    CacheLayerMixin,
    DummyLayer,
    DynamicCache,
    DynamicLayer,
    DynamicSlidingWindowLayer,
)

_GROWTH = 512


class _Cursor:
    """Where the next rows go and how many slots attention may look at; shared by all layers."""

    def __init__(self, length: int = 0) -> None:
        self.length = self.visible = length


class _SlotLayer(CacheLayerMixin):  # type: ignore[misc]
    """Keys and values by slot, [1, heads, slots, width]; slot = position for a chain.

    Sliding-window layers keep every slot too and leave the window to the mask: nothing is
    evicted, so a rollback cannot lose what it needs.
    """

    is_croppable = True
    is_sliding = False

    def __init__(self, cursor: _Cursor) -> None:
        super().__init__()
        self.cursor = cursor

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        self.keys, self.values = key_states[:, :, :0], value_states[:, :, :0]
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start, end = self.cursor.length, self.cursor.length + key_states.shape[-2]
        self.keys = grown(self.keys, max(end, self.cursor.visible))
        self.values = grown(self.values, max(end, self.cursor.visible))
        self.keys[:, :, start:end] = key_states
        self.values[:, :, start:end] = value_states
        return self.keys[:, :, : self.cursor.visible], self.values[:, :, : self.cursor.visible]

    def keep(self, path: torch.Tensor) -> None:
        """Move the slots `path`, counted from the cursor, to directly after the committed ones."""
        if self.is_initialized:
            source = self.cursor.length + path.to(self.keys.device)
            target = slice(self.cursor.length, self.cursor.length + len(path))
            self.keys[:, :, target] = self.keys[:, :, source]
            self.values[:, :, target] = self.values[:, :, source]

    def copy(self, cursor: _Cursor) -> "_SlotLayer":
        """A layer of another cache that holds what lies before its cursor."""
        copied = _SlotLayer(cursor)
        if self.is_initialized:
            length = cursor.length
            copied.keys = grown(self.keys[:, :, :length], length + 1)
            copied.values = grown(self.values[:, :, :length], length + 1)
            copied.is_initialized = True
        return copied

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.cursor.visible, 0

    def get_seq_length(self) -> int:
        return self.cursor.length

    def get_max_length(self) -> int:
        return -1


def grown(buffer: torch.Tensor, slots: int) -> torch.Tensor:
    """`buffer` with room for `slots`; new slots are zero, since a masked NaN would still spread."""
    if buffer.shape[2] >= slots:
        return buffer
    size = max(2 * buffer.shape[2], -(-slots // _GROWTH) * _GROWTH)
    grown = buffer.new_zeros((*buffer.shape[:2], size, buffer.shape[3]))
    grown[:, :, : buffer.shape[2]] = buffer
    return grown


class Slots:
    """For attention layers: rollback is a smaller length, an accepted tree path is gathered."""

    def __init__(self, config: Any) -> None:
        self._cursor = _Cursor()
        count = len(DynamicCache(config=config).layers)
        self.cache = Cache(layers=[_SlotLayer(self._cursor) for _ in range(count)])

    @staticmethod
    def suits(config: Any) -> bool:
        """Whether every layer of the model is plain or sliding-window attention, be it over keys
        and values that another layer keeps."""
        plain = (DynamicLayer, DynamicSlidingWindowLayer, DummyLayer)
        layers = DynamicCache(config=config).layers
        return bool(layers) and all(type(layer) in plain for layer in layers)

    def before(self, rows: int, visible: int) -> None:
        """Prepare a pass of `rows` rows in which attention sees `visible` slots."""
        self._cursor.visible = visible

    def keep(self, path: Sequence[int]) -> int:
        """Commit rows of the last pass; the length the cache now has."""
        if list(path) != list(range(len(path))):
            for layer in self.cache.layers:
                layer.keep(torch.tensor(path))
        self._cursor.length += len(path)
        return self._cursor.length

    def truncate(self, length: int) -> int:
        """Drop what lies beyond `length`; the length that remains."""
        self._cursor.length = length
        return length

    def abort(self) -> int:
        """Forget an interrupted pass: its slots lie beyond the length and do not count."""
        return self._cursor.length

    def fork(self, length: int) -> "Slots":
        """A new cache that holds a copy of the first `length` slots."""
        forked = copy.copy(self)
        forked._cursor = cursor = _Cursor(length)
        forked.cache = Cache(layers=[layer.copy(cursor) for layer in self.cache.layers])
        return forked


class Snapshots:
    """For recurrent and hybrid models, whose state cannot be cut: copy it before a pass.

    When a pass is not kept whole, the copy comes back and none of its rows stay; the engine
    feeds the accepted ones again before the next draft.
    """

    def __init__(self, config: Any) -> None:
        self._config = config
        self._saved: list[dict[str, Any]] = []
        self.abort()

    def before(self, rows: int, visible: int) -> None:
        self._rows = rows
        # A single row is the committed token itself: hardly ever refused, so not worth a copy.
        self._saved = [_state(layer) for layer in self.cache.layers] if rows > 1 else []

    def keep(self, path: Sequence[int]) -> int:
        """Commit rows of the last pass; the length the cache now has."""
        rows, self._rows = self._rows, 0
        if len(path) == rows:
            self._length += rows
            return self._length
        if not self._saved:
            return self.abort()
        for layer, state in zip(self.cache.layers, self._saved, strict=True):
            layer.__dict__.update(state)
        return self._length

    def truncate(self, length: int) -> int:
        # Rows scored but never committed (an error came between) have moved the state on.
        return self._length if length == self._length and not self._rows else self.abort()

    def abort(self) -> int:
        """Start again from nothing: an interrupted pass leaves the state half-updated."""
        self.cache = DynamicCache(config=self._config)
        self._saved = []
        self._length = self._rows = 0
        return 0

    def fork(self, length: int) -> "Snapshots":
        """A new cache with nothing in it: the state is that of the whole text."""
        return Snapshots(self._config)


def _state(layer: CacheLayerMixin) -> dict[str, Any]:
    """A copy of a layer's state. Attention replaces its tensors, so a reference to them will do;
    recurrent layers write theirs in place."""
    shared = {"keys": layer.__dict__.get("keys"), "values": layer.__dict__.get("values")}
    others = {name: value for name, value in layer.__dict__.items() if name not in shared}
    return copy.deepcopy(others) | {k: v for k, v in shared.items() if k in layer.__dict__}
