"""A target that is a table: the last two tokens give the logits. Whole audits in a second."""

from collections.abc import Callable, Sequence

import numpy as np

from foredraft.core.types import ROOT, FloatArray, LogitArray
from foredraft.targets.base import CachedSequence, Capabilities, Rollback, Rows, shared_prefix
from tests.tiny import VOCAB, Characters


class Held:
    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.scored: list[int] = []


class Table:
    """Random logits of a seed, as peaked as a small model's; `mixed` is how much of another's.

    `wobble` is added to the logits of a pass by its rows, as kernels round by them.
    """

    name, engine, signature = "table", "numpy", "table"
    vocab_size, context, bit_stable = VOCAB, 1024, True
    capabilities = Capabilities(Rollback.FREE, trees=True, max_rows=64)

    def __init__(self, seed: int = 0, mixed: float = 0.0, wobble: float = 0.0) -> None:
        self.tokenizer = Characters(())
        one, other = (_logits(np.random.default_rng(s)) for s in (seed, seed + 1))
        share = np.array([1 - mixed, mixed]) / np.hypot(1 - mixed, mixed)
        self._logits = (share[0] * one + share[1] * other).astype(np.float32)
        self._wobble = wobble

    def open(self, *, bitwise: bool = False) -> Held:
        return Held()

    def room(self, sequence: CachedSequence) -> int:
        return min(64, self.context - len(sequence.tokens))

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
        held, tokens = rows.sequence, list(rows.tokens)
        assert isinstance(held, Held)
        held.scored = tokens
        parents = list(rows.parents or range(ROOT, len(tokens) - 1))
        last = held.tokens[-1] if held.tokens else 0
        before = [last if p == ROOT else tokens[p] for p in parents]
        chance = np.random.default_rng([len(tokens), *tokens])
        noise = self._wobble * chance.uniform(-0.5, 0.5, (len(tokens), VOCAB))
        logits: LogitArray = self._logits[before, tokens] + noise.astype(np.float32)
        return logits

    def commit(self, sequence: CachedSequence, path: Sequence[int]) -> None:
        assert isinstance(sequence, Held)
        sequence.tokens += [sequence.scored[row] for row in path]


def _logits(rng: np.random.Generator) -> FloatArray:
    """[token before the last, last token, V]: mostly the last token's doing, as in n-grams."""
    return 1.9 * rng.normal(size=(VOCAB, VOCAB)) + 0.9 * rng.normal(size=(VOCAB, VOCAB, VOCAB))
