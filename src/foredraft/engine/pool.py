"""Texts that were read before: what a new request shares with one need not be read again."""

from collections.abc import Sequence
from dataclasses import dataclass

from foredraft.targets.base import CachedSequence, Target, shared_prefix

_WORTH = 16
"""Fewer shared tokens are read again rather than shared."""


@dataclass(eq=False, slots=True)
class _Kept:
    sequence: CachedSequence
    bitwise: bool
    idle: bool = False


class Pool:
    """The sequences of a target, those in use and at most `most` that wait for a text like theirs.

    The one that has waited longest is forgotten first.
    """

    def __init__(self, target: Target, most: int) -> None:
        self._target = target
        self._most = most
        self._kept: list[_Kept] = []  # idle ones in the order in which they became so

    @property
    def tokens(self) -> int:
        """How many tokens are cached in all; what sequences share counts for each. `bitwise` ones
        have room of their own."""
        return sum(len(kept.sequence.tokens) for kept in self._kept if not kept.bitwise)

    def take(self, ids: Sequence[int], bitwise: bool) -> CachedSequence:
        """A sequence that holds as long a prefix of `ids` as any, and nothing else.

        A `bitwise` one is empty: the bits of what was read depend on how it was grouped.
        """
        if bitwise:
            return self._afresh()
        near = [(shared_prefix(k.sequence.tokens, ids), k) for k in self._kept]
        near = [(shared, kept) for shared, kept in near if not kept.bitwise and shared >= _WORTH]
        shared, best = max(near, key=lambda found: found[0], default=(0, None))
        if best is not None and best.idle and 2 * shared >= len(best.sequence.tokens):
            self._kept.remove(best)
            sequence = best.sequence
        elif best is not None:
            sequence = self._target.fork(best.sequence, shared)
        else:
            sequence = self._target.open()
        self._target.rewind(sequence, ids)
        self._kept.append(_Kept(sequence, bitwise))
        return sequence

    def give(self, sequence: CachedSequence) -> None:
        """It is no longer in use; what it holds may serve another text."""
        # Rows of a round that failed may not have been committed.
        self._target.rewind(sequence, list(sequence.tokens))
        own = next(kept for kept in self._kept if kept.sequence is sequence)
        self._kept.remove(own)
        own.idle = True
        self._kept.append(own)
        while sum(kept.idle for kept in self._kept) > self._most:
            self.forget()

    def forget(self) -> bool:
        """Forget the idle sequence that has waited longest; False if there is none."""
        oldest = next((kept for kept in self._kept if kept.idle), None)
        if oldest is None:
            return False
        self._target.rewind(oldest.sequence, [])
        self._kept.remove(oldest)
        return True

    def _afresh(self) -> CachedSequence:
        """An empty `bitwise` sequence, one that exists if possible: each may own a whole cache."""
        idle = next((kept for kept in self._kept if kept.idle and kept.bitwise), None)
        if idle is None:
            idle = _Kept(self._target.open(bitwise=True), bitwise=True)
            self._kept.append(idle)
        idle.idle = False
        self._target.rewind(idle.sequence, [])
        return idle.sequence
