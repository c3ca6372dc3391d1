"""Answers made ready to train on: a prompt is read once for all of its answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random

import torch

from sizing.answers import Written

_KEPT_BACK = 16
"""One prompt in so many is not taught but judged with."""
_TOGETHER = 2


@dataclass(frozen=True, slots=True)
class Batch:
    """Prompts, each followed by its answers: tokens and positions [B, T], and what each token may
    look at [B, 1, T, T]. `labels` [N] are the answers' tokens, each to be told at its place in
    the flattened `ids`, `places` [N]."""

    ids: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor
    places: torch.Tensor
    labels: torch.Tensor


class Lessons:
    """Batches over the tokens that occur, `used`, which get small ids in its order; `others` are
    all the rest."""

    def __init__(self, answers: Sequence[Written], vocab_size: int) -> None:
        occurs = torch.zeros(vocab_size, dtype=torch.bool)
        for one in answers:
            occurs[one.prompt + one.output] = True
        self.used, self.others = occurs.nonzero()[:, 0], (~occurs).nonzero()[:, 0]
        self._small = occurs.cumsum(0) - 1
        groups = [list(group) for _, group in groupby(answers, lambda one: one.id)]
        self._judged = groups[::_KEPT_BACK]
        self._taught = [group for i, group in enumerate(groups) if i % _KEPT_BACK]

    def taught(self, epoch: int) -> list[Batch]:
        """What is trained on, in another order each epoch."""
        groups = Random(epoch).sample(self._taught, len(self._taught))
        return [self._batch(groups[i : i + _TOGETHER]) for i in range(0, len(groups), _TOGETHER)]

    def judged(self) -> list[Batch]:
        return [self._batch([group]) for group in self._judged]

    def _batch(self, groups: Sequence[Sequence[Written]]) -> Batch:
        width = max(len(g[0].prompt) + sum(len(one.output) for one in g) for g in groups)
        ids, positions = torch.zeros(2, len(groups), width, dtype=torch.long)
        answer = torch.full((len(groups), width), -1)  # of each token: its answer; 0 the prompt
        places, labels = [], []
        for row, group in enumerate(groups):
            begin = len(group[0].prompt)
            last = row * width + begin - 1
            ids[row, :begin] = torch.tensor(group[0].prompt)
            positions[row, :begin] = torch.arange(begin)
            answer[row, :begin] = 0
            at = begin
            for number, one in enumerate(group, 1):
                end = at + len(one.output)
                ids[row, at:end] = torch.tensor(one.output)
                positions[row, at:end] = torch.arange(begin, begin + len(one.output))
                answer[row, at:end] = number
                places += [last, *range(row * width + at, row * width + end - 1)]
                labels += one.output
                at = end
        own = (answer[:, None] == answer[:, :, None]) | (answer[:, None] == 0)
        mask = (own & torch.ones(width, width, dtype=torch.bool).tril())[:, None]
        return Batch(self._small[ids], positions, mask, torch.tensor(places), self._small[labels])
