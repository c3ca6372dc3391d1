"""One request's text so far, and the law and the chance that belong to it."""

from collections.abc import Collection, Sequence

import numpy as np

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams, law
from foredraft.core.types import FloatArray, LogitArray


class TextSequence:
    """Committed tokens (prompt, then output) with the settings and noise of their request."""

    def __init__(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        noise: Noise,
        eos: Collection[int] = (),
    ) -> None:
        self.tokens = list(prompt)
        self.prompt_length = len(prompt)
        self._prompt = np.array(prompt, dtype=np.int64)
        self.params = params
        self.noise = noise
        self.eos = eos

    @property
    def output(self) -> list[int]:
        return self.tokens[self.prompt_length :]

    def law(
        self,
        logits: LogitArray,
        drafted: Sequence[int] = (),
        params: SamplingParams | None = None,
    ) -> FloatArray:
        """The law of the token after the committed ones and `drafted`, [V] → [V].

        Serves p from a target's logits and q from a draft's: both see the same penalties.
        `params` replaces the request's own.
        """
        output = np.array([*self.output, *drafted], dtype=np.int64)
        return law(logits, params or self.params, self._prompt, output, self.eos)
