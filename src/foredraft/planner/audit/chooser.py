"""What a request makes of logits, worked out from its settings alone, without the engine."""

import numpy as np

from foredraft.core.noise import Noise
from foredraft.core.sampling import law
from foredraft.core.types import FloatArray, LogitArray
from foredraft.engine.request import Request
from foredraft.planner.audit.forced import Text
from foredraft.targets.base import Target


class Chooser:
    """p at each place of a text, and the one token that the request's seed draws from it."""

    def __init__(self, target: Target, request: Request) -> None:
        """`request` has a seed."""
        self._params = request.params
        self._eos = frozenset() if request.ignore_eos else target.tokenizer.eos_ids
        self._noise = Noise(request.seed or 0, coupled=True)

    def law(self, text: Text, at: int, logits: LogitArray) -> FloatArray:
        """p of output token `at` [V]."""
        prompt, output = np.array(text.prompt), np.array(text.output[:at], dtype=np.int64)
        return law(logits, self._params, prompt, output, self._eos)

    def token(self, text: Text, at: int, logits: LogitArray) -> int:
        """Output token `at`: the likeliest, or the seed's draw."""
        return self._noise.draw_target(len(text.prompt) + at, self.law(text, at, logits))
