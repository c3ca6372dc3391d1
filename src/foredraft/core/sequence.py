"""One request's text so far, and the law and the chance that belong to it."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams, law
from foredraft.core.types import FloatArray, IntArray, LogitArray


class TextSequence:
    """Committed tokens (prompt, then output) with the settings and noise of their request.

    Tokens are only ever appended, so that what a round costs does not grow with the text.
    `cached` is what the target holds of it; drafters that read hidden states find them there.
    """

    cached: Any = None

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
        self._output = np.empty(256, dtype=np.int64)
        self._copied = 0
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
        output = self._output_and(drafted)
        return law(logits, params or self.params, self._prompt, output, self.eos)

    def _output_and(self, drafted: Sequence[int]) -> IntArray:
        """The output and what may follow it; valid until the next call."""
        size = len(self.tokens) - self.prompt_length
        if size + len(drafted) > self._output.size:
            self._output = np.resize(self._output, 2 * (size + len(drafted)))
        self._output[self._copied : size] = self.tokens[self.prompt_length + self._copied :]
        self._copied = size
        self._output[size : size + len(drafted)] = drafted
        return self._output[: size + len(drafted)]
