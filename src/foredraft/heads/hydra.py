"""Hydra: Medusa's networks, each of which also reads the tokens drafted before (2402.05109)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from foredraft.core.types import ROOT, LogitArray
from foredraft.heads.base import Features
from foredraft.heads.layers import Network, Pass, pieces_of
from foredraft.heads.medusa import ResBlock
from foredraft.heads.rows import RowCache
from foredraft.heads.shared import Turned
from foredraft.heads.vocabulary import DraftVocabulary

_CHUNK = 512


class Condensing(nn.Module):
    """A hidden state and the embeddings of some tokens, side by side, → one hidden state."""

    def __init__(self, width: int, tokens: int) -> None:
        super().__init__()
        self.linear = nn.Linear((1 + tokens) * width, width)
        self.res_connection = nn.Linear((1 + tokens) * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.res_connection(x) + nn.functional.silu(self.linear(x))
        return out


class Prefix(Network):
    """Hydra++'s layer over the target's hidden states of the whole text."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        pieces = pieces_of(config)
        self.layer = pieces.layer(config, 0)
        self.norm = pieces.norm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, hidden: torch.Tensor, place: Pass) -> torch.Tensor:
        """[rows, H] → [rows, H]."""
        out: torch.Tensor = self.norm(self.layer(hidden[None], **place.of(self.config, 0)))[0]
        return out


@dataclass(frozen=True, slots=True)
class Shape:
    """How a Hydra network is built: `blocks` for each depth, output matrices of `rows`.

    A `grounded` depth reads the tokens drafted so far; others read what Medusa's do.
    """

    depths: int
    blocks: int
    rows: int
    grounded: bool
    prefix: bool


class Hydra(Network):
    """`depths[i]` gives the logits of the token that comes i places after the text's end, from the
    hidden state before the text's last token and, where grounded, the i + 1 tokens between."""

    def __init__(self, config: Any, shape: Shape) -> None:
        super().__init__(config)
        width = config.hidden_size
        self.grounded = shape.grounded
        self.prefix = Prefix(config) if shape.prefix else None
        self.depths = nn.ModuleList(
            nn.Sequential(
                Condensing(width, depth + 1) if shape.grounded else ResBlock(width),
                *(ResBlock(width) for _ in range(shape.blocks - 1)),
                nn.Linear(width, shape.rows, bias=False),
            )
            for depth in range(shape.depths)
        )


@dataclass(frozen=True, slots=True)
class HydraHead:
    """A Hydra network as a Head; `embed` gives the target's embeddings."""

    taps: tuple[int, ...]
    signature: str
    network: Hydra
    embed: Turned
    vocabulary: DraftVocabulary
    name: str = "hydra"
    parallel: bool = False

    @property
    def reach(self) -> int:
        return len(self.network.depths)

    def open(self) -> "HydraState":
        return HydraState(self)


class HydraState:
    """What the networks have to read for the text and for each node.

    Places: 0 is the hidden state before the text's last token, 1 the text, then come the nodes.
    """

    def __init__(self, head: HydraHead) -> None:
        prefix = head.network.prefix
        self.tokens: list[int] = []
        self._head = head
        self._rows = None if prefix is None else RowCache(prefix, prefix.rotary())
        self._inputs: list[torch.Tensor] = []
        self._depths: list[int] = []

    @torch.inference_mode()
    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        # The last row runs again if nothing is new: its output is not kept with the text.
        self.rewind(len(text) - 1)
        hidden = self._last_state(features, len(text) - 1)
        self.tokens += text[len(self.tokens) :]
        self._inputs, self._depths = [hidden], [-1]
        logits: LogitArray = self._add(text[-1:], [0])[0]
        return logits

    @torch.inference_mode()
    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        return self._add(tokens, [1 + parent - ROOT for parent in parents])

    def rewind(self, length: int) -> None:
        del self.tokens[length:], self._inputs[:], self._depths[:]

    def _last_state(self, features: Features, end: int) -> torch.Tensor:
        """The last of the first `end` hidden states, [H]."""
        taps, prefix = self._head.taps, self._head.network.prefix
        if prefix is None or self._rows is None:
            last: torch.Tensor = features.hidden(taps, end - 1, end)[0]
            return last
        for start in range(max(0, len(self.tokens) - 1), end, _CHUNK):
            hidden = features.hidden(taps, start, min(start + _CHUNK, end))
            last = prefix(hidden, self._rows.extend(start, len(hidden)))[-1]
        return last

    def _add(self, tokens: Sequence[int], above: Sequence[int]) -> LogitArray:
        """Add one place a token, each below another one; logits [n, V] of what follows them."""
        head, count = self._head, len(tokens)
        ids = torch.tensor([list(tokens)], device=self._inputs[0].device)
        for embedded, place in zip(head.embed(ids)[0], above, strict=True):
            inputs = self._inputs[place]
            self._inputs.append(torch.cat([inputs, embedded]) if head.network.grounded else inputs)
            self._depths.append(self._depths[place] + 1)
        depths = self._depths[-count:]
        logits = np.empty((count, head.vocabulary.size), dtype=np.float32)
        for depth in set(depths):
            rows = [row for row in range(count) if depths[row] == depth]
            inputs = torch.stack([self._inputs[row - count] for row in rows])
            logits[rows] = head.vocabulary.spread(head.network.depths[depth](inputs))
        return logits
