"""Medusa heads: each tells one of the coming tokens from the target's last hidden state alone."""

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import silu

from foredraft.training.alpha import Alpha, Drafted, alpha
from foredraft.training.publish import publish_medusa
from foredraft.training.states import Example
from foredraft.training.teacher import Teacher, distance

_RATE = 0.6
_DECAY = 0.8
_OTHERS = 2048
"""Tokens that never occur, other ones each step, that stand for all such in the softmax."""


class MedusaHead(nn.Module):
    """One residual block, which begins as none, and output rows, which begin as the target's."""

    def __init__(self, rows: torch.Tensor) -> None:
        super().__init__()
        self.linear = nn.Linear(rows.shape[1], rows.shape[1])
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)
        self.rows = nn.Parameter(rows.clone())

    def forward(self, hidden: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Hidden states [n, H] → logits of its own rows and of `others`."""
        return _logits(hidden + silu(self.linear(hidden)), self.rows, others)


class MedusaTrainee:
    """Head i learns the law of the token 2 + i places on, and the output rows of the tokens `ids`,
    which occur. Those of the others stay the target's; a few at a time stand for all of them, so
    that the block learns to keep away from them."""

    def __init__(self, teacher: Teacher, ids: torch.Tensor, heads: int) -> None:
        kept = torch.zeros(teacher.config.vocab_size, dtype=torch.bool)
        kept[ids] = True
        self._ids, self._rest = ids, (~kept).nonzero()[:, 0]
        self._rows, self._others = teacher.rows(ids), teacher.rows(self._rest)
        self._heads = [MedusaHead(self._rows) for _ in range(heads)]
        self.network = nn.ModuleList(self._heads)
        self.rate = _RATE / teacher.config.hidden_size
        self._teacher = teacher

    def loss(self, examples: Sequence[Example]) -> torch.Tensor:
        last = [self._last(one) for one in examples]
        others = self._others[torch.randperm(len(self._others))[:_OTHERS]]
        more = math.log(len(self._others) / len(others)) if len(others) else 0.0
        weigh = torch.zeros(len(self._rows) + len(others))
        weigh[len(self._rows) :] = more
        losses = []
        for i, head in enumerate(self._heads):
            hidden = torch.cat([states[: -1 - i] for states in last])
            with torch.no_grad():
                wanted = _logits(torch.cat([s[1 + i :] for s in last]), self._rows, others)
            losses.append(_DECAY**i * distance(wanted + weigh, head(hidden, others) + weigh))
        return torch.stack(losses).sum()

    @torch.no_grad()
    def judge(self, examples: Sequence[Example]) -> Alpha:
        return alpha(map(self._drafted, examples), len(self._heads))

    def publish(self, folder: Path) -> None:
        heads = [(head.linear, head.rows) for head in self._heads]
        publish_medusa(heads, self._ids, self._teacher, folder)

    def _last(self, example: Example) -> torch.Tensor:
        """The hidden states that drafts of the answer start from, and those after them."""
        begin = max(0, example.answer_from - 2)
        return example.hidden[begin:, -self._rows.shape[1] :].float()

    def _drafted(self, example: Example) -> list[Drafted]:
        hidden = self._last(example)
        p = self._teacher.law(example)[:-1]
        tokens = example.tokens[-len(p) :]
        places = torch.cat([self._ids, self._rest])
        steps = []
        for i, head in enumerate(self._heads):
            q = torch.zeros_like(p[i:])
            q[:, places] = head(hidden[: len(q)], self._others).softmax(1)
            steps.append(Drafted.of(p[i:], q, tokens[i:]))
        return steps


def _logits(hidden: torch.Tensor, rows: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    return torch.cat([hidden @ rows.T, hidden @ others.T], 1)
