"""Forced tokens: where the form of an answer leaves one way to go on, that way is the draft."""

from contextlib import suppress

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft
from foredraft.grammar.mask import GrammarMask


class ForcedDrafter:
    """Drafts what a request's grammar leaves no choice about: the names of a schema's properties,
    the words around a call. p gives each such token all its weight. Without a grammar it drafts
    nothing. Deterministic, so q is one-hot.
    """

    name = "forced"
    free = True
    expected: tuple[tuple[float, float], ...] = ((1, 0.99),)

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        tokens: list[int] = []
        for mask in grammars(sequence.params)[:1] if limit > 0 else ():
            # A grammar that can be followed no further fails its own text, when p is asked for; a
            # draft shares its round with other texts.
            with suppress(ForedraftError):
                tokens = mask.forced(np.array(sequence.output, dtype=np.int64))[:limit]
        return Draft.chain(tokens, None, self.name, [1.0] * len(tokens))

    def close(self, sequence: TextSequence) -> None:
        """It keeps nothing."""


def grammars(params: SamplingParams) -> list[GrammarMask]:
    """The grammars that a law keeps to."""
    return [process for process in params.processors if isinstance(process, GrammarMask)]
