"""A target whose arithmetic is done once, so that thousands of texts cost little more than one."""

from collections.abc import Callable, Sequence

import numpy as np

from foredraft.core.types import ROOT, LogitArray
from foredraft.targets.base import CachedSequence, Rows, Target, shared_prefix
from tests.worlds import Text


class Held:
    """What a cache would hold: its tokens."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.scored: list[int] = []


class Remembered:
    """Asks the real target only once for the logits after a text.

    All but the model's arithmetic and its cache is the engine's own; what the cache forgets shows
    with the real target alone.
    """

    def __init__(self, real: Target) -> None:
        self._real = real
        self._known: dict[Text, LogitArray] = {}
        self.name, self.tokenizer = real.name, real.tokenizer
        self.vocab_size, self.context = real.vocab_size, real.context
        self.capabilities, self.bit_stable = real.capabilities, True

    def after(self, text: Text) -> LogitArray:
        """The logits after `text` [V], from one pass over the whole of it."""
        if text not in self._known:
            self._known[text] = self._real.score([Rows(self._real.open(), text)])[0][-1]
        return self._known[text]

    def open(self, *, bitwise: bool = False) -> Held:
        return Held()

    def room(self, sequence: CachedSequence) -> int:
        return self.context - len(sequence.tokens)

    def rewind(self, sequence: CachedSequence, tokens: Sequence[int]) -> int:
        del sequence.tokens[shared_prefix(sequence.tokens, tokens) :]
        return len(sequence.tokens)

    def prefill(
        self,
        sequence: CachedSequence,
        tokens: Sequence[int],
        progress: Callable[[int], None] | None = None,
    ) -> None:
        sequence.tokens[:] = tokens

    def score(self, batch: Sequence[Rows]) -> list[LogitArray]:
        return [self._score(rows) for rows in batch]

    def _score(self, rows: Rows) -> LogitArray:
        assert isinstance(rows.sequence, Held)
        rows.sequence.scored = list(rows.tokens)
        texts: list[Text] = []
        parents = rows.parents or range(ROOT, len(rows.tokens) - 1)
        for token, parent in zip(rows.tokens, parents, strict=True):
            before = tuple(rows.sequence.tokens) if parent == ROOT else texts[parent]
            texts.append((*before, token))
        return np.array([self.after(text) for text in texts])

    def commit(self, sequence: CachedSequence, path: Sequence[int]) -> None:
        assert isinstance(sequence, Held)
        sequence.tokens += [sequence.scored[row] for row in path]
