"""p under a grammar: the tokens that may follow, whichever text is asked about."""

from typing import Any

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.types import FloatArray, IntArray

_KEPT = 64
"""Masks that are kept: those of a round's rows are asked for by the draft and by the target."""


class GrammarMask:
    """A Processor that bars every token the grammar forbids after the text's output.

    Where the grammar may end, the end is allowed too; where it must, nothing else is. Knows the
    answer for any text: it goes on from the longest part it has matched before, so that a draft's
    branches cost microseconds a token, in whatever order they are judged. After a token that the
    grammar forbids nothing is barred: p never lets such a text come about. One thread at a time.
    """

    def __init__(self, unused: Any, prompt_length: int, kind: str) -> None:
        self._unused = unused
        self._prompt_length = prompt_length
        self._kind = kind
        self._begin()

    def _begin(self) -> None:
        self._matcher = self._unused.deep_copy()
        self._path: IntArray = np.empty(0, dtype=np.int64)
        self._matched = 0  # tokens of `_path` that the matcher has consumed
        self._masks: dict[int, bytes | None] = {}  # by tokens of `_path`

    def __call__(self, text: IntArray, scores: FloatArray) -> FloatArray:
        mask = self._mask(text[self._prompt_length :])
        if mask is None:
            return scores
        bits = np.frombuffer(mask, dtype=np.uint8)
        allowed = np.unpackbits(bits, count=scores.size, bitorder="little").view(bool)
        return np.where(allowed, scores, -np.inf)

    def forced(self, output: IntArray) -> list[int]:
        """The tokens that must follow: p gives each of them all its weight."""
        if not self._follow(output):
            return []
        tokens: list[int] = self._matcher.compute_ff_tokens()
        self._check()
        return tokens

    def _mask(self, output: IntArray) -> bytes | None:
        """One bit a token, lowest first; None where the grammar has been left."""
        if output.size in self._masks and _shared(self._path, output) == output.size:
            return self._masks[output.size]
        mask = self._matcher.compute_bitmask() if self._follow(output) else None
        self._check()
        self._masks[output.size] = mask
        if len(self._masks) > _KEPT:
            del self._masks[next(iter(self._masks))]  # the first that was made
        return mask

    def _follow(self, output: IntArray) -> bool:
        """Bring the matcher to the end of `output`; whether the grammar allows it."""
        shared = _shared(self._path, output)
        if self._matched > shared:
            self._matcher.rollback(self._matched - shared)
            self._matched = shared
        if shared < output.size:
            self._path = output.copy()
            self._masks = {size: mask for size, mask in self._masks.items() if size <= shared}
        rest = output[self._matched :].tolist()
        consumed = self._matcher.try_consume_tokens(rest)
        self._matched += consumed
        self._check()
        return bool(consumed == len(rest))

    def _check(self) -> None:
        if self._matcher.is_error():
            why = self._matcher.get_error().strip().partition("\n")[0]
            self._begin()  # a draft that went too far is not the text's end
            raise ForedraftError(
                f"The {self._kind} became too costly to follow ({why[:300]}); make it less "
                "ambiguous, or use fewer alternatives and smaller repetitions."
            )


def _shared(left: IntArray, right: IntArray) -> int:
    """How many leading tokens are the same."""
    size = min(left.size, right.size)
    apart = np.flatnonzero(left[:size] != right[:size])
    return int(apart[0]) if apart.size else size
