"""Heads that read their own output: EAGLE, EAGLE-3 and multi-token prediction layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

from foredraft.core.types import ROOT, LogitArray
from foredraft.heads.base import Features
from foredraft.heads.layers import Network, Pass
from foredraft.heads.rows import RowCache, waves
from foredraft.heads.vocabulary import DraftVocabulary

_CHUNK = 512


class Recursive(Protocol):
    """The network of such a head. A row holds a token and the hidden state before it."""

    def fuse(self, taps: torch.Tensor) -> torch.Tensor:
        """The target's hidden states [rows, taps · H] as hidden states of the head [1, rows, h]."""

    def run(self, embedded: torch.Tensor, hidden: torch.Tensor, place: Pass) -> torch.Tensor:
        """Both [1, rows, h] → the hidden states that the next tokens' rows read, likewise."""

    def normed(self, hidden: torch.Tensor) -> torch.Tensor:
        """What the output matrix reads of what `run` gave."""


@dataclass(frozen=True, slots=True)
class RecursiveHead:
    """A Recursive network as a Head. `embed` turns token ids into embeddings, `project` hidden
    states into logits over `vocabulary`: the network's own matrices or the target's."""

    name: str
    taps: tuple[int, ...]
    signature: str
    network: Any
    embed: Callable[[torch.Tensor], torch.Tensor]
    project: Callable[[torch.Tensor], torch.Tensor]
    vocabulary: DraftVocabulary
    reach: int | None = None
    parallel: bool = False

    def open(self) -> "RecursiveState":
        return RecursiveState(self)


class RecursiveState:
    """Committed rows carry the target's true hidden states, nodes the head's own."""

    def __init__(self, head: RecursiveHead) -> None:
        network: Network = head.network
        self.tokens: list[int] = []
        self._head = head
        self._network = head.network
        self._rows = RowCache(network, network.rotary())
        self._hidden: list[torch.Tensor] = []
        """What the children of the text and of each node read, [h] each, the text's first."""

    @torch.inference_mode()
    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        # The last row runs again if nothing is new: its output is not kept with the text.
        self.rewind(min(len(self.tokens), len(text) - 1))
        if not self.tokens:  # the first token has no hidden state before it, so no row
            self.tokens = list(text[:1])
        last = None
        while (start := len(self.tokens)) < len(text):
            new = list(text[start : start + _CHUNK])
            taps = features.hidden(self._head.taps, start - 1, start - 1 + len(new))
            place = self._rows.extend(start - 1, len(new))
            last = self._run(new, self._network.fuse(taps), place)[-1:]
            self.tokens += new
        if last is None:
            return self._head.vocabulary.unknown()
        self._hidden = [last[0]]
        logits: LogitArray = self._logits(last)[0]
        return logits

    @torch.inference_mode()
    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        answers = []
        for wave in waves(parents, len(self._hidden) - 1):
            # ROOT is −1, and the text's own hidden state comes first.
            hidden = torch.stack([self._hidden[parent - ROOT] for parent in parents[wave]])
            out = self._run(tokens[wave], hidden[None], self._rows.grow(parents[wave]))
            self._hidden += out
            answers.append(self._logits(out))
        return np.concatenate(answers)

    def rewind(self, length: int) -> None:
        del self.tokens[length:], self._hidden[:]

    def _run(self, tokens: Sequence[int], hidden: torch.Tensor, place: Pass) -> torch.Tensor:
        ids = torch.tensor([list(tokens)], device=hidden.device)
        out: torch.Tensor = self._network.run(self._head.embed(ids), hidden, place)[0]
        return out

    def _logits(self, hidden: torch.Tensor) -> LogitArray:
        return self._head.vocabulary.spread(self._head.project(self._network.normed(hidden)))
