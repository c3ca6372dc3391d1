"""Gathering what a draft learns from: texts of the target with its states on them, onto disk."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum

import torch

from foredraft.targets.base import Progress
from foredraft.targets.torch_hf import TorchTarget
from foredraft.training.batch import Batch
from foredraft.training.states import Example, States
from foredraft.training.write import Job, Text, write

_SHARD = 32 << 20


@dataclass(frozen=True, slots=True)
class Amount:
    """How much to gather: tokens of answers, bytes on disk, and texts that are written at once."""

    tokens: int
    space: int
    at_once: int = 48


class Ended(StrEnum):
    """Why gathering ended."""

    ENOUGH = "enough"
    NO_SPACE = "no space"
    NO_MORE = "no more"
    STOPPED = "stopped"


def gather(
    target: TorchTarget,
    states: States,
    jobs: Iterator[Job],
    asked: Callable[[Text], None],
    amount: Amount,
    report: Progress,
) -> Ended:
    """Add the texts of `jobs` to `states` until there is enough, the space is full or jobs end.

    Texts nobody learns from go to `asked`. Ctrl-C keeps all that are whole.
    """
    kept = _Kept(states, amount.space)
    seed = states.manifest.seed + states.answer_tokens  # another one when it goes on
    batch = Batch(target, states.manifest.taps, amount.at_once)
    texts = write(batch, amount.at_once, jobs, target.tokenizer.eos_ids, seed)
    try:
        with closing(texts):
            while kept.tokens < amount.tokens:
                report("Gathering", kept.tokens, amount.tokens)
                text = next(texts, None)
                if text is None:
                    return Ended.NO_MORE if kept.flush() else Ended.NO_SPACE
                if text.job.answer_from is None:
                    asked(text)
                elif not kept.add(Example(torch.tensor(text.tokens), text.job.answer_from, text.hidden)):
                    return Ended.NO_SPACE
    except KeyboardInterrupt:
        kept.flush()
        return Ended.STOPPED
    return Ended.ENOUGH if kept.flush() else Ended.NO_SPACE


class _Kept:
    """Examples on their way to disk, a shard at a time; False where the space would not do."""

    def __init__(self, states: States, space: int) -> None:
        self._states, self._space = states, space
        self._pending: list[Example] = []

    @property
    def tokens(self) -> int:
        pending = sum(len(one.tokens) - one.answer_from for one in self._pending)
        return self._states.answer_tokens + pending

    @property
    def _bytes(self) -> int:
        return sum(one.hidden.nbytes for one in self._pending)

    def add(self, example: Example) -> bool:
        self._pending.append(example)
        return self._bytes < _SHARD or self.flush()

    def flush(self) -> bool:
        fits = self._states.size + self._bytes <= self._space
        if self._pending and fits:
            self._states.add(self._pending)
        self._pending = []
        return fits
