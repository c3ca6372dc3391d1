"""A smaller model as the draft, with a cache of its own (Leviathan 2211.17192)."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft, FloatArray, LogitArray, Verdict
from foredraft.targets.base import CachedSequence, Rollback, Rows, Target

_CATCH_UP = 64


class ModelDrafter:
    """Drafts with `draft`, any Target that shares the vocabulary of the target it drafts for.

    `greedy` proposes the draft's most likely tokens, reported as one-hot; otherwise tokens are
    drawn from q, the draft's law under the request's own settings, and q is reported as drawn.
    """

    name = "model"
    free = False
    expected: tuple[tuple[float, float], ...] = (
        (0, 0.25),
        (0.3, 0.4),
        (0.5, 0.55),
        (0.7, 0.7),
        (0.9, 0.85),
        (0.98, 0.95),
    )

    def __init__(self, draft: Target, vocab_size: int, greedy: bool = False) -> None:
        if draft.capabilities.rollback is not Rollback.FREE:
            raise ForedraftError(
                f"{draft.name} has recurrent layers and cannot take back drafted tokens, so it "
                "cannot be a draft model; choose one with attention layers only."
            )
        self._draft = draft
        self._vocab_size = vocab_size
        self._greedy = greedy
        self._caches: WeakKeyDictionary[TextSequence, CachedSequence] = WeakKeyDictionary()
        self._spare: CachedSequence | None = None

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        cache = self._caches.get(sequence)
        if cache is None:
            # The cache of a closed sequence serves the next one: a chat's turns share a prefix.
            cache, self._spare = self._spare or self._draft.open(), None
            self._caches[sequence] = cache
        limit = min(limit, self._draft.context - len(sequence.tokens))
        if limit <= 0 or not self._understands(sequence):
            return Draft.chain([], source=self.name)
        drafted: list[int] = []
        laws: list[FloatArray] = []
        logits = self._feed(cache, sequence.tokens)
        while True:
            q = sequence.law(self._aligned(logits), drafted)
            position = len(sequence.tokens) + len(drafted)
            token = int(q.argmax()) if self._greedy else sequence.noise.draw_draft(position, q)
            drafted.append(token)
            laws.append(q)
            if len(drafted) == limit:
                break
            logits = self._feed(cache, [*sequence.tokens, *drafted])
        one_hot = self._greedy or sequence.params.is_greedy
        return Draft.chain(drafted, None if one_hot else laws, self.name)

    def _understands(self, sequence: TextSequence) -> bool:
        """Whether the draft has a row for every token so far and for one that may come.

        The target's may have more rows: padding, in models that share a tokenizer.
        """
        allowed = sequence.params.allowed_tokens
        may_come = allowed is None or any(0 <= t < self._draft.vocab_size for t in allowed)
        return may_come and max(sequence.tokens) < self._draft.vocab_size

    def _feed(self, cache: CachedSequence, tokens: Sequence[int]) -> LogitArray:
        """The logits after `tokens` [V], evaluating only those the cache does not hold yet.

        After a round kept whole this is two tokens, the last drafted one, which the draft never
        saw as input, and the bonus; after a refusal it is the redrawn token alone.
        """
        kept = self._draft.rewind(cache, tokens[:-1])
        if len(tokens) - kept > _CATCH_UP:
            self._draft.prefill(cache, tokens[:-1])
            kept = len(tokens) - 1
        (logits,) = self._draft.score([Rows(cache, tokens[kept:])])
        self._draft.commit(cache, range(len(tokens) - kept))
        last: LogitArray = logits[-1]
        return last

    def _aligned(self, logits: LogitArray) -> LogitArray:
        """Logits over the target's vocabulary [V]; the two may differ in padding rows."""
        missing = self._vocab_size - logits.size
        if missing <= 0:
            return logits[: self._vocab_size]
        return np.concatenate([logits, np.full(missing, -np.inf, dtype=logits.dtype)])

    def observe(self, sequence: TextSequence, verdict: Verdict) -> None:
        pass

    def close(self, sequence: TextSequence) -> None:
        self._spare = self._caches.pop(sequence, self._spare)
