"""Gathering what a draft learns from: texts of the target with its states on them, onto disk."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum

import torch

from foredraft.targets.base import Progress
from foredraft.targets.torch_hf import TorchTarget
from foredraft.training.batch import Batch
from foredraft.training.states import Example, States
from foredraft.training.write import Job, write

_SHARD = 32 << 20


@dataclass(frozen=True, slots=True)
class Amount:
    """How much to gather at most: tokens of answers, bytes on disk, seconds; and how many texts are
    written at once."""

    tokens: int
    space: int
    seconds: float = math.inf
    at_once: int = 32


class Ended(StrEnum):
    """Why gathering ended."""

    ENOUGH = "enough"
    NO_SPACE = "no space"
    NO_TIME = "no time"
    NO_MORE = "no more"
    STOPPED = "stopped"


def gather(
    target: TorchTarget,
    states: States,
    jobs: Iterator[Job],
    header: Sequence[int],
    amount: Amount,
    seed: int,
    report: Progress,
) -> Ended:
    """Add the texts of `jobs` to `states` until there is enough, a bound is met or jobs end.

    Most texts begin with `header`, which is read once for all. Ctrl-C keeps all that are whole.
    """
    end = time.monotonic() + amount.seconds
    kept = _Kept(states, amount.space)
    batch = Batch(target, states.manifest.taps, amount.at_once, header)
    texts = write(batch, amount.at_once, jobs, target.tokenizer.eos_ids, seed)
    ended = Ended.ENOUGH
    try:
        with closing(texts):
            while kept.tokens < amount.tokens:
                report("Gathering", kept.tokens, amount.tokens)
                if time.monotonic() > end:
                    ended = Ended.NO_TIME
                    break
                text = next(texts, None)
                if text is None:
                    ended = Ended.NO_MORE
                    break
                if not kept.add(Example(torch.tensor(text.tokens), text.answer_from, text.hidden)):
                    return Ended.NO_SPACE
    except KeyboardInterrupt:
        ended = Ended.STOPPED
    return ended if kept.flush() else Ended.NO_SPACE


class _Kept:
    """Examples on their way to disk, a shard at a time; False where the space would not do."""

    def __init__(self, states: States, space: int) -> None:
        self._states, self._space = states, space
        self._pending: list[Example] = []

    @property
    def tokens(self) -> int:
        pending = sum(len(one.tokens) - one.answer_from for one in self._pending)
        return self._states.answer_tokens + pending

    def add(self, example: Example) -> bool:
        self._pending.append(example)
        return sum(one.hidden.nbytes for one in self._pending) < _SHARD or self.flush()

    def flush(self) -> bool:
        size = sum(one.hidden.nbytes for one in self._pending)
        fits = self._states.size + size <= self._space
        if self._pending and fits:
            self._states.add(self._pending)
        self._pending = []
        return fits
