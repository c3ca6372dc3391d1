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

GATHERING = "Gathering"
"""What it reports to do, counted in tokens."""
_SHARD = 32 << 20
_SHARD_ITSELF = 1024
_BESIDE = 24
"""Bytes a token takes beside its hidden states, at most: its id, and what is said of its text."""


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
                report(GATHERING, kept.tokens, amount.tokens)
                if time.monotonic() > end:
                    ended = Ended.NO_TIME
                    break
                text = next(texts, None)
                if text is None:
                    ended = Ended.NO_MORE
                    break
                if not kept.add(Example(torch.tensor(text.tokens), text.answer_from, text.hidden)):
                    ended = Ended.NO_SPACE
                    break
    except KeyboardInterrupt:
        ended = Ended.STOPPED
    kept.flush()
    return ended


class _Kept:
    """Examples on their way to disk, a shard at a time."""

    def __init__(self, states: States, space: int) -> None:
        self._states, self._space = states, space
        self._pending: list[Example] = []
        self._bytes = 0

    @property
    def tokens(self) -> int:
        pending = sum(len(one.tokens) - one.answer_from for one in self._pending)
        return self._states.answer_tokens + pending

    def add(self, example: Example) -> bool:
        """False, and it is left out, where the space would not do."""
        size = example.hidden.nbytes + _BESIDE * len(example.tokens)
        if self._states.size + self._bytes + size + _SHARD_ITSELF > self._space:
            return False
        self._pending.append(example)
        self._bytes += size
        if self._bytes >= _SHARD:
            self.flush()
        return True

    def flush(self) -> None:
        if self._pending:
            self._states.add(self._pending)
        self._pending, self._bytes = [], 0
