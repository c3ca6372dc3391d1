"""Answers as examples to learn from."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from random import Random

import torch

from foredraft.training.states import Example
from sizing.answers import Written

_KEPT_BACK = 16
"""One prompt in so many is not taught but judged with."""


class Answers:
    """Without hidden states: a small model learns from the text alone."""

    def __init__(self, answers: Sequence[Written]) -> None:
        self.used = torch.tensor(sorted({i for one in answers for i in one.prompt + one.output}))
        groups = [list(group) for _, group in groupby(answers, lambda one: one.id)]
        self._judged = [one for group in groups[::_KEPT_BACK] for one in group]
        self._taught = [one for i, g in enumerate(groups) if i % _KEPT_BACK for one in g]

    def examples(self, held_out: bool = False, seed: int | None = None) -> Iterator[Example]:
        """In an order of its own for each seed."""
        answers = self._judged if held_out else self._taught
        for one in answers if seed is None else Random(seed).sample(answers, len(answers)):
            tokens = torch.tensor(one.prompt + one.output)
            yield Example(tokens, len(one.prompt), torch.empty(len(tokens), 0))

    def taught_tokens(self) -> int:
        """How many tokens the answers to learn from have."""
        return sum(len(one.output) for one in self._taught)
