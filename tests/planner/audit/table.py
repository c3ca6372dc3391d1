"""A target that is a table: the last two tokens give the logits. Whole audits in a second."""

from collections.abc import Sequence

import numpy as np

from foredraft.core.types import FloatArray, LogitArray
from foredraft.targets.base import Capabilities, Rollback
from tests.cacheless import Cacheless
from tests.tiny import VOCAB, Characters
from tests.worlds import Text


class Table(Cacheless):
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

    def logits(self, texts: Sequence[Text], rows: Sequence[int]) -> LogitArray:
        before = [text[-2] if len(text) > 1 else 0 for text in texts]
        chance = np.random.default_rng([len(rows), *rows])
        noise = self._wobble * chance.uniform(-0.5, 0.5, (len(rows), VOCAB))
        logits: LogitArray = self._logits[before, list(rows)] + noise.astype(np.float32)
        return logits


def _logits(rng: np.random.Generator) -> FloatArray:
    """[token before the last, last token, V]: mostly the last token's doing, as in n-grams."""
    return 1.9 * rng.normal(size=(VOCAB, VOCAB)) + 0.9 * rng.normal(size=(VOCAB, VOCAB, VOCAB))
