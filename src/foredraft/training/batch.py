"""Many texts that grow side by side in shared passes, their hidden states kept."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

from foredraft.core.errors import ForedraftError
from foredraft.targets.masks import masks_by_kind
from foredraft.targets.taps import Taps
from foredraft.targets.torch_hf import TorchTarget
from foredraft.targets.torch_pass import LAST_ROW

_GROWTH = 128
_MOST_HALF = torch.finfo(torch.float16).max
_PREFILL = 2048
"""The most rows of a pass that reads prompts: more would gain nothing and take memory."""


class _Place:
    """Where a pass writes: texts `first` …, the slots [texts, rows]; attention sees `visible`."""

    def __init__(self) -> None:
        self.first = self.visible = 0
        self.slots = torch.zeros(0, 0, dtype=torch.long)

    def put(self, held: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Write `states` [texts, rows, …] into `held` [texts, slots, …], grown if need be."""
        if held.shape[1] < self.visible:
            slots = max(self.visible + _GROWTH, held.shape[1] * 3 // 2)
            grown = held.new_zeros((held.shape[0], slots, *held.shape[2:]))
            grown[:, : held.shape[1]] = held  # zeros beyond: a masked NaN would still spread
            held = grown
        texts = torch.arange(self.first, self.first + len(states), device=held.device)
        held[texts[:, None], self.slots] = states
        return held

    def seen(self, held: torch.Tensor) -> torch.Tensor:
        return held[self.first : self.first + len(self.slots), : self.visible]


class _TextsLayer(CacheLayerMixin):  # type: ignore[misc]
    """Keys and values of all texts, [texts, slots, heads, width]; slot = position."""

    def __init__(self, place: _Place, size: int) -> None:
        super().__init__()
        self._place, self._size = place, size

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        def empty(states: torch.Tensor) -> torch.Tensor:
            return states.new_zeros((self._size, 0, states.shape[1], states.shape[3]))

        self.keys, self.values = empty(key_states), empty(value_states)
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        self.keys = self._place.put(self.keys, key_states.transpose(1, 2))
        self.values = self._place.put(self.values, value_states.transpose(1, 2))
        return (
            self._place.seen(self.keys).transpose(1, 2),
            self._place.seen(self.values).transpose(1, 2),
        )

    def copy(self, source: int, to: int) -> None:
        if self.is_initialized:
            self.keys[to], self.values[to] = self.keys[source], self.values[source]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        raise NotImplementedError("the mask of many texts is ready made")

    def get_seq_length(self) -> int:
        raise NotImplementedError("many texts have no one length")

    def get_max_length(self) -> int:
        return -1


class Batch:
    """Up to `size` texts of a TorchTarget. They stay dense: texts 0 … len − 1 are live.

    What many begin with, `header`, is read once and copied.
    """

    def __init__(
        self, target: TorchTarget, taps: Sequence[int], size: int, header: Sequence[int] = ()
    ) -> None:
        if not target.capabilities.trees:
            raise ForedraftError(
                f"{target.name} has layers other than attention to the text or a window of it; "
                "drafts are trained for such targets only."
            )
        self._model, self._size = target.model, size
        self._config = target.model.config.get_text_config(decoder=True)
        self._place = _Place()
        count = self._config.num_hidden_layers
        self._cache = Cache(layers=[_TextsLayer(self._place, size + 1) for _ in range(count)])
        width = (len(taps) + 1) * self._config.hidden_size
        self._hidden = torch.zeros(
            size + 1, 0, width, dtype=torch.float16, device=self._model.device
        )
        self._order = (*taps, count)
        self._taps = Taps(self._model)
        self._taps.add(self._order)
        self._lengths: list[int] = []
        self._header = list(header)
        if header:
            self._run([self._header], size, [0])

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, texts: Sequence[Sequence[int]]) -> None:
        """Read new texts; they come after those that are live."""
        longest = max(map(len, texts), default=1) or 1
        together = max(1, _PREFILL // longest)
        for first in range(0, len(texts), together):
            self._add(texts[first : first + together])

    def _add(self, texts: Sequence[Sequence[int]]) -> None:
        at, begun = len(self._lengths), len(self._header)
        if any(list(text[:begun]) != self._header for text in texts):
            begun = 0
        elif begun:
            for place in range(at, at + len(texts)):
                self._copy(self._size, place)
        width = max(map(len, texts)) - begun
        if width:
            # Padding at the end is seen by nothing before it, and written over later.
            rest = [[*text[begun:], *[0] * (width + begun - len(text))] for text in texts]
            self._run(rest, at, [begun] * len(texts))
        self._lengths += map(len, texts)

    def step(self, tokens: Sequence[int]) -> torch.Tensor:
        """Read one more token of each live text; float32 logits [len, V] of what follows."""
        logits = self._run([[token] for token in tokens], 0, self._lengths)
        self._lengths = [length + 1 for length in self._lengths]
        return logits

    def hidden(self, text: int) -> torch.Tensor:
        """The hidden states of a text [n, width], on the CPU."""
        return self._hidden[text, : self._lengths[text]].to("cpu", copy=True)

    def drop(self, text: int) -> None:
        """Take a text out; the last one takes its place."""
        last = self._lengths.pop()
        if text < len(self._lengths):
            self._copy(len(self._lengths), text)
            self._lengths[text] = last

    @torch.no_grad()
    def _copy(self, source: int, to: int) -> None:
        for layer in self._cache.layers:
            layer.copy(source, to)
        self._hidden[to] = self._hidden[source]

    @torch.no_grad()
    def _run(
        self, tokens: Sequence[Sequence[int]], first: int, starts: Sequence[int]
    ) -> torch.Tensor:
        """A pass over `tokens` [texts, rows]; logits of each text's last row."""
        device = self._model.device
        rows = torch.arange(len(tokens[0]))
        positions = torch.tensor(starts)[:, None] + rows
        self._place.first, self._place.slots = first, positions.to(device)
        self._place.visible = int(positions.max()) + 1
        with self._taps.catching() as caught:
            out = self._model(
                input_ids=torch.tensor(tokens, device=device),
                position_ids=self._place.slots,
                attention_mask=self._masks(positions),
                cache=self._cache,
                use_cache=True,
                logits_to_keep=LAST_ROW,
                **self._taps.asking,
            )
        states = torch.cat([caught[tap] for tap in self._order], -1)
        states = states.clamp(-_MOST_HALF, _MOST_HALF).to(torch.float16)
        self._hidden = self._place.put(self._hidden, states)
        logits: torch.Tensor = out.logits[:, -1].float()
        return logits

    def _masks(self, positions: torch.Tensor) -> Any:
        """A row sees its own text up to its own place."""
        behind = positions[:, None, :, None] - torch.arange(self._place.visible)

        def sees(window: int | None) -> torch.Tensor:
            return (behind >= 0) if window is None else (behind >= 0) & (behind < window)

        return masks_by_kind(self._model, sees)
