"""Several modules of multi-token prediction, each of which predicts one token further."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from foredraft.core.types import ROOT, LogitArray
from foredraft.heads.base import Features
from foredraft.heads.mtp_network import MTPNetwork
from foredraft.heads.rows import RowCache
from foredraft.heads.vocabulary import DraftVocabulary

_CHUNK = 512


@dataclass(frozen=True, slots=True)
class StackedHead:
    """Module i reads what module i − 1 gave (module 0: the target's hidden state) at place t, and
    token t + 1 + i, and gives what follows that token."""

    taps: tuple[int, ...]
    signature: str
    network: MTPNetwork
    embed: Callable[[torch.Tensor], torch.Tensor]
    project: Callable[[torch.Tensor], torch.Tensor]
    vocabulary: DraftVocabulary
    name: str = "mtp"
    parallel: bool = False

    @property
    def reach(self) -> int:
        return len(self.network.depths)

    def open(self) -> "StackedState":
        return StackedState(self)


class StackedState:
    """Each module keeps the rows whose tokens are committed, module i up to i places less.

    The last rows of deeper modules hold drafted tokens: i for a node i deep, run with the node.
    """

    def __init__(self, head: StackedHead) -> None:
        self.tokens: list[int] = []
        self._head = head
        self._rows = [RowCache(head.network, head.network.rotary()) for _ in range(head.reach)]
        self._last: dict[int, torch.Tensor] = {}
        """Module → what it gave in its last committed row, [1, h]."""
        self._paths: list[list[int]] = []
        self._outputs: list[torch.Tensor] = []
        """What its module gave in the rows of each node, [depth, h]; the text's own first."""

    @torch.inference_mode()
    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        reach, end = self._head.reach, len(text) - 1
        # The rows of all modules begin at one place, each with what the module before gave there.
        begin = max(0, min(len(self.tokens), end) - reach)
        self.rewind(0)
        self.tokens += text
        for start in range(begin, end, _CHUNK):
            hidden = features.hidden(self._head.taps, start, min(start + _CHUNK, end))
            for module in range(reach):
                count = min(len(hidden), end - module - start)
                if count <= 0:
                    break
                first = start + 1 + module
                hidden = self._run(module, start, text[first : first + count], hidden[:count])
                self._last[module] = hidden[-1:]
        self._paths, self._outputs = [[]], [hidden[:0]]
        return self._logits(self._last[0])

    @torch.inference_mode()
    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        return np.stack([self._node(*node) for node in zip(tokens, parents, strict=True)])

    def rewind(self, length: int) -> None:
        del self.tokens[length:], self._paths[:], self._outputs[:]
        self._last.clear()

    def _node(self, token: int, parent: int) -> LogitArray:
        # ROOT is −1, and the text's own come first.
        path, hidden = self._paths[parent - ROOT], self._outputs[parent - ROOT]
        path, module = [*path, token], len(path) + 1
        if module - 1 in self._last:  # not in a text shorter than the path
            hidden = torch.cat([self._last[module - 1], hidden])
        start = len(self.tokens) - 1 - len(hidden)
        output = self._run(module, start, path[-len(hidden) :], hidden)
        self._paths.append(path)
        self._outputs.append(output)
        return self._logits(output[-1:])

    def _run(
        self, module: int, start: int, tokens: Sequence[int], hidden: torch.Tensor
    ) -> torch.Tensor:
        """Rows of a module from place `start` on; what lay there is dropped."""
        head, place = self._head, self._rows[module].extend(start, len(tokens))
        ids = torch.tensor([list(tokens)], device=hidden.device)
        return head.network.run(head.embed(ids), hidden[None], place, module)[0]

    def _logits(self, hidden: torch.Tensor) -> LogitArray:
        logits: LogitArray = self._head.vocabulary.spread(self._head.project(hidden))[0]
        return logits
