"""What would have been drawn at other temperatures: after the same text, by the same chance."""

from collections.abc import Sequence
from dataclasses import replace

from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import FloatArray, LogitArray

TEMPERATURES = (0.0, 0.3, 0.7, 1.0)
"""What `--what-if` looks at, beside the temperature that was asked for."""


class HeardSequence(TextSequence):
    """A text that keeps the logits which its latest law was made of: a target's or a draft's."""

    heard: LogitArray

    def law(
        self,
        logits: LogitArray,
        drafted: Sequence[int] = (),
        params: SamplingParams | None = None,
    ) -> FloatArray:
        self.heard = logits
        return super().law(logits, drafted, params)

    def draw(self, temperatures: Sequence[float]) -> list[int]:
        """The next token by those logits at each temperature, with this position's own noise.

        So whether a target and a draft agree at a temperature is what the engine would have seen.
        """
        position = len(self.tokens)
        at = (replace(self.params, temperature=one) for one in temperatures)
        return [self.noise.draw_target(position, self.law(self.heard, (), one)) for one in at]
