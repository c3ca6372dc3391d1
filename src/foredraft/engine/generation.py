"""One answer in the making: its text so far, where it ends, and what it reports."""

import secrets
from collections.abc import Sequence

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.noise import Noise
from foredraft.core.sequence import TextSequence
from foredraft.core.stats import Stats
from foredraft.core.types import Exactness
from foredraft.engine.loop import Round
from foredraft.engine.request import Request
from foredraft.engine.result import Result, Token
from foredraft.engine.text import TextStream
from foredraft.targets.base import Target


class Generation:
    """A request's text as rounds make it; `result` is what it has come to, `fresh` the tokens of
    the last round.

    Raises ForedraftError at once for a prompt or setting that cannot work.
    """

    def __init__(self, target: Target, ids: Sequence[int], request: Request) -> None:
        check(target, ids, request)
        self._target, self._request = target, request
        seed = secrets.randbits(32) if request.seed is None else request.seed
        self.result = Result(seed=seed, stats=Stats(prompt_tokens=len(ids)))
        self.fresh: list[Token] = []
        noise = Noise(seed, request.exactness is not Exactness.DISTRIBUTION)
        eos = frozenset() if request.ignore_eos else target.tokenizer.eos_ids
        self.sequence = TextSequence(ids, request.params, noise, eos)
        self._text = TextStream(target.tokenizer, request.stop)

    @property
    def most(self) -> int:
        """The most tokens that the next round may draft: one more is emitted."""
        sequence = self.sequence
        left = self._request.max_new_tokens - (len(sequence.tokens) - sequence.prompt_length)
        return max(0, left - 1)

    def read(self, done: Round) -> int:
        """How many tokens of a round count: up to where the text ends, and why it ends there."""
        self.fresh = []
        for token, row in zip(done.emitted, done.rows, strict=True):
            piece = self._text.push(token)
            self._end(token)
            if self.result.finish_reason is not None:
                piece += self._text.finish()
            from_draft = len(self.fresh) < len(done.verdict.path)
            drafter = done.draft.source if from_draft else None
            logprobs = _logprobs(done, row, token, self._request)
            self.fresh.append(Token(token, piece, from_draft, *logprobs, drafter))
            if self.result.finish_reason is not None:
                break
        self.result.tokens += self.fresh
        self.result.text = self._text.text
        return len(self.fresh)

    def _end(self, token: int) -> None:
        """Note it if the text ends with `token`, which comes next."""
        sequence, result = self.sequence, self.result
        length = len(sequence.tokens) + len(self.fresh) + 1
        if token in sequence.eos:
            result.finish_reason = "eos"
        elif self._text.stopped:
            result.finish_reason = "stop"
        elif length - sequence.prompt_length == self._request.max_new_tokens:
            result.finish_reason = "length"
        elif length == self._target.context:
            result.finish_reason = "context"


def check(target: Target, ids: Sequence[int], request: Request) -> None:
    """Raise ForedraftError for a prompt or setting that cannot work on a target."""
    context = target.context
    if not ids:
        raise ForedraftError("The prompt is empty; give at least one character.")
    if max(ids) >= target.vocab_size or min(ids) < 0:
        raise ForedraftError("The prompt holds a token id outside the model's vocabulary.")
    if len(ids) >= context:
        raise ForedraftError(
            f"The prompt has {len(ids)} tokens, but {target.name} has a context of "
            f"{context}; shorten the prompt or use a model with a longer context."
        )
    if (request.draft_len or 0) >= context:
        raise ForedraftError(
            f"draft_len (γ) is {request.draft_len}, more than {target.name}'s context of "
            f"{context} can hold; 2 to 16 is usual."
        )
    if request.exactness is Exactness.BITWISE and not target.bit_stable:
        raise ForedraftError(
            f"{target.name} gives different bits for different groupings of rows here, "
            "so exactness 'bitwise' cannot be promised; use 'coupled' or another --dtype."
        )


def _logprobs(
    done: Round, row: int, token: int, request: Request
) -> tuple[float | None, dict[int, float] | None, int | None]:
    if request.logprobs is None:
        return None, None, None
    p = done.laws.reported(row)
    top = np.argsort(-p, kind="stable")[: request.logprobs]
    likeliest = {int(i): float(np.log(p[i])) for i in top if p[i] > 0}
    return float(np.log(p[token])), likeliest, 1 + int(np.count_nonzero(p > p[token]))
