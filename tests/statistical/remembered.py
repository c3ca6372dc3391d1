"""A target whose arithmetic is done once, so that thousands of texts cost little more than one."""

from collections.abc import Sequence

import numpy as np

from foredraft.core.types import LogitArray
from foredraft.targets.base import Rows, Target
from tests.cacheless import Cacheless
from tests.worlds import Text


class Remembered(Cacheless):
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

    def logits(self, texts: Sequence[Text], rows: Sequence[int]) -> LogitArray:
        return np.array([self.after(text) for text in texts])
