"""Where two texts that should be one part, and whether rounding explains it."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from foredraft.core.types import LogitArray

Choose = Callable[[LogitArray], int]
"""What a request makes of logits [V]: its one choice."""

_LEAST, _MOST = 1e-7, 64.0
"""Logits further apart than e^64 are not a matter of rounding."""
_PRECISE = 1.01


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place, output token `at`, where a text leaves the one that plain decoding gives.

    `plain` and `other` are the two tokens' text. `margin` is how far logits would have to be off
    for both to be right, None if no rounding could do it; for greedy texts that is the gap
    between the two best logits. `near`: rounding on this machine reaches that far.
    """

    prompt: str
    at: int
    plain: str
    other: str
    margin: float | None
    near: bool


def margin(logits: LogitArray, choose: Choose, token: int) -> float | None:
    """How far `logits` [V] would have to be off for `token` to be the choice: 0 if it is."""
    chosen = choose(logits)
    if chosen == token:
        return 0.0

    def reached(slack: float) -> bool:
        return any(choose(wrong) == token for wrong in _nudged(logits, chosen, token, slack))

    low, high = _LEAST, _MOST
    if not reached(high):
        return None
    while high > low * _PRECISE:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def raised(logits: LogitArray, token: int, slack: float) -> Iterator[LogitArray]:
    """Logits off by `slack` in the two ways that help a token most: itself alone, or all that are
    no likelier, which moves the edge of top-p."""
    alone = logits.copy()
    alone[token] += slack
    yield alone
    yield np.where(logits <= logits[token], logits + np.float32(slack), logits)


def _nudged(logits: LogitArray, chosen: int, token: int, slack: float) -> Iterator[LogitArray]:
    """The same, and the two ways that take the choice from `chosen`."""
    yield from raised(logits, token, slack)
    alone = logits.copy()
    alone[chosen] -= slack
    yield alone
    yield np.where(logits > logits[chosen], logits + np.float32(slack), logits)
