"""Known texts read by the target alone: the logits before each token, and how far they wobble."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from foredraft.core.types import LogitArray
from foredraft.targets.base import CachedSequence, Rows, Target

GROUP = 32
_GROUPS = (3, 8)
_ROWS = 8
_LEADING = 8


@dataclass(frozen=True, slots=True)
class Text:
    """A prompt, and what was generated after it, as token ids."""

    prompt: list[int]
    output: list[int]


def forced(
    target: Target, cache: CachedSequence, text: Text, group: int = GROUP
) -> Iterator[LogitArray]:
    """The logits before each token of the output, at most `group` rows a pass."""
    target.prefill(cache, text.prompt[:-1])
    tokens = [text.prompt[-1], *text.output][: len(text.output)]
    done = 0
    while done < len(tokens):
        rows = tokens[done : done + min(group, target.room(cache))]
        (logits,) = target.score([Rows(cache, rows)])
        target.commit(cache, range(len(rows)))
        yield from logits
        done += len(rows)


def rounding(target: Target, texts: Sequence[Text]) -> float:
    """How far, at most, two logits of a place moved against each other when the text was read
    again: in other groups of rows, and in another sequence, which lies elsewhere in the cache.

    Measured on the leading logits of each text's first rows.
    """
    moved = [0.0]
    for text in texts:
        start, kept = Text(text.prompt, text.output[:_ROWS]), target.open()
        alone = np.array(list(forced(target, kept, start, 1)))
        leading = np.argsort(-alone, axis=1)[:, :_LEADING]
        others = [np.array(list(forced(target, target.open(), start, group))) for group in _GROUPS]
        heads = [np.take_along_axis(logits, leading, axis=1) for logits in (alone, *others)]
        moved += [float(np.ptp(a - b, axis=1).max()) for a, b in combinations(heads, 2)]
    return max(moved)
