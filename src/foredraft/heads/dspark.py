"""DSpark: a DFlash block whose rows are corrected by the token drafted before (2607.05147).

The correction is a bias of low rank on the logits, W2 · W1[token], so what follows a drafted token
depends on that token as it would in a chain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from foredraft.core.types import ROOT, LogitArray
from foredraft.heads.base import Features
from foredraft.heads.block import Block
from foredraft.heads.dflash import BlockNetwork, DFlashHead, DFlashState, Own


@dataclass(frozen=True, slots=True)
class Correction:
    """What a correction is made of: `vocab` tokens of the target in, `rows` logits out."""

    kind: str
    vocab: int
    rows: int
    rank: int


class Markov(nn.Module):
    """The plain correction, by the token alone; parameters are named as in the checkpoints."""

    def __init__(self, correction: Correction, size: int) -> None:
        """`size` is the drafter's hidden size."""
        super().__init__()
        self.markov_w1 = nn.Embedding(correction.vocab, correction.rank)
        self.markov_w2 = nn.Linear(correction.rank, correction.rows, bias=False)

    def start(self) -> torch.Tensor:
        """The state [1, rank] before a block's first row."""
        return torch.zeros_like(self.markov_w1.weight[:1])

    def step(
        self, tokens: torch.Tensor, hidden: torch.Tensor, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What `markov_w2` makes the bias of rows [n, h] from, and the rows' states, both
        [n, rank]: by the tokens [n] and the states of the rows before them."""
        return self.markov_w1(tokens), state


class GatedMarkov(Markov):
    """The correction, let through as far as the row's hidden state says."""

    def __init__(self, correction: Correction, size: int) -> None:
        super().__init__(correction, size)
        self.gate_proj = nn.Linear(size + correction.rank, correction.rank)

    def step(
        self, tokens: torch.Tensor, hidden: torch.Tensor, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        before = self.markov_w1(tokens)
        return self.gate_proj(torch.cat([hidden, before], dim=-1)).sigmoid() * before, state


class RecurrentMarkov(Markov):
    """The correction by all drafted tokens before: a gated recurrent state along the block."""

    def __init__(self, correction: Correction, size: int) -> None:
        super().__init__(correction, size)
        self.joint_proj = nn.Linear(2 * correction.rank + size, 3 * correction.rank)

    def step(
        self, tokens: torch.Tensor, hidden: torch.Tensor, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        joint = self.joint_proj(torch.cat([state, self.markov_w1(tokens), hidden], dim=-1))
        gate, candidate, out = joint.chunk(3, dim=-1)
        gate = gate.sigmoid()
        return out.tanh(), gate * state + (1 - gate) * candidate.tanh()


MARKOVS: dict[str, type[Markov]] = {
    "vanilla": Markov,
    "gated": GatedMarkov,
    "rnn": RecurrentMarkov,
}
"""By the checkpoints' `markov_head_type`."""


class DSparkNetwork(BlockNetwork):
    """The layers of a block drafter and its correction."""

    def __init__(self, block: Block, target_size: int, own: Own, correction: Correction) -> None:
        super().__init__(block, target_size, own)
        self.markov_head: Markov = MARKOVS[correction.kind](correction, self.config.hidden_size)


class DSparkHead(DFlashHead):
    """A DSparkNetwork as a Head.

    It counts as `parallel`: a drafted token costs one product with `markov_w2`, a hundredth of a
    pass, and whether the block is worth its pass is decided before it runs. Its confidence head,
    where there is one, is not read: drafts are judged by what is measured of them.
    """

    name = "dspark"

    def open(self) -> "DSparkState":
        return DSparkState(self)


class DSparkState(DFlashState):
    """Holds a correction's state for the text and for each node."""

    def __init__(self, head: DSparkHead) -> None:
        super().__init__(head)
        assert isinstance(head.network, DSparkNetwork)
        self._markov = head.network.markov_head
        self._hidden = torch.empty(0)
        self._states: list[torch.Tensor] = []

    @torch.inference_mode()
    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        first = self._head.network.block.first
        self._hidden = self._run(features, text)
        self._logits = self._head.project(self._hidden[first:])
        state = self._markov.start()
        # Where the last token's own row predicts nothing, it still moves the state on.
        for row in range(-first, 1):
            code, state = self._step(text[-1], row, state)
        self._states = [state]
        logits: LogitArray = self._corrected([0], code)[0]
        return logits

    @torch.inference_mode()
    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        rows, codes = self._rows(parents), []
        for token, parent, row in zip(tokens, parents, rows, strict=True):
            # ROOT is −1, and the text's own state comes first.
            code, state = self._step(token, row, self._states[parent - ROOT])
            codes.append(code)
            self._states.append(state)
        return self._corrected(rows, torch.cat(codes))

    def _step(self, token: int, row: int, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        place = self._head.network.block.first + row
        tokens = torch.tensor([token], device=self._hidden.device)
        return self._markov.step(tokens, self._hidden[place : place + 1], state)

    def _corrected(self, rows: Sequence[int], code: torch.Tensor) -> LogitArray:
        logits = self._logits[list(rows)] + self._markov.markov_w2(code)
        return self._head.vocabulary.spread(logits)
