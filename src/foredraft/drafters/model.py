"""A smaller model as the draft, with a cache of its own (Leviathan 2211.17192)."""

from collections.abc import Generator, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.shape import Shape
from foredraft.core.types import Draft, LogitArray
from foredraft.drafters.base import GoOn, Wanted
from foredraft.drafters.chain import EXPECTED, drawing
from foredraft.targets.base import CachedSequence, Rollback, Rows, Target, shared_prefix

_CATCH_UP = 64


class ModelDrafter:
    """Drafts with `draft`, any Target that shares the vocabulary of the target it drafts for.

    `greedy` proposes the draft's most likely tokens, reported as one-hot; otherwise tokens are
    drawn from q, the draft's law under the request's own settings, and q is reported as drawn.
    A draft ends after a token that the draft model gave less than `least`. Of a text longer than
    `window` when it is first drafted for, only that many last tokens are read.
    """

    name = "model"
    free = False
    reach: int | None = None
    branches = False
    expected: tuple[tuple[float, float], ...] = EXPECTED

    def __init__(
        self,
        draft: Target,
        vocab_size: int,
        greedy: bool = False,
        least: float = 0.0,
        window: int | None = None,
    ) -> None:
        if draft.capabilities.rollback is not Rollback.FREE:
            raise ForedraftError(
                f"{draft.name} has recurrent layers and cannot take back drafted tokens, so it "
                "cannot be a draft model; choose one with attention layers only."
            )
        if not 0 <= least <= 1:
            raise ForedraftError(f"least is {least}; a probability lies between 0 (off) and 1.")
        if window is not None and window < 1:
            raise ForedraftError(f"window is {window}; the draft must read at least 1 token.")
        self._draft = draft
        self._vocab_size = vocab_size
        self._greedy = greedy
        self._least = least
        self._window = window
        self._open: WeakKeyDictionary[TextSequence, tuple[CachedSequence, int]]
        self._open = WeakKeyDictionary()
        self._spare: CachedSequence | None = None

    def passes(self, depth: int) -> int:
        return depth

    def propose(
        self,
        sequence: TextSequence,
        limit: int,
        go_on: GoOn | None = None,
        shape: Shape | None = None,
    ) -> Draft:
        """See CostlyDrafter: `go_on` replaces `least`, and a draft is a chain in any case."""
        (draft,) = self.propose_together([(sequence, limit, go_on, shape)])
        return draft

    def propose_together(self, wanted: Sequence[Wanted]) -> list[Draft]:
        drafting = [self._drafting(*one[:3]) for one in wanted]
        drafts: dict[int, Draft] = {}
        waiting: dict[int, Rows] = {}

        def go_on(text: int, logits: LogitArray | None) -> None:
            try:
                waiting[text] = drafting[text].send(logits)
            except StopIteration as done:
                drafts[text] = done.value

        for text in range(len(wanted)):
            go_on(text, None)
        while waiting:
            batch, waiting = waiting, {}
            for (text, rows), logits in zip(
                batch.items(), self._draft.score(list(batch.values())), strict=True
            ):
                self._draft.commit(rows.sequence, range(len(rows.tokens)))
                go_on(text, logits[-1])
        return [drafts[text] for text in range(len(wanted))]

    def _drafting(
        self, sequence: TextSequence, limit: int, go_on: GoOn | None
    ) -> Generator[Rows, LogitArray | None, Draft]:
        """One text's draft: yields what the draft model is to read, gets the logits after it."""
        cache, start = self._opened(sequence)
        text = sequence.tokens[start:]
        kept = self._draft.rewind(cache, text[:-1])
        limit = min(limit, self._draft.context - len(text))
        if limit <= 0 or not self._understands(text[kept:], sequence.params):
            return Draft.chain([], source=self.name)
        drawn = drawing(sequence, limit, go_on or self._sure, self._greedy, self.name)
        next(drawn)
        # After a round kept whole two tokens are missing, the last drafted one, which the draft
        # never saw as input, and the bonus; after a refusal it is the redrawn token alone.
        if len(text) - kept > _CATCH_UP:
            self._draft.prefill(cache, text[:-1])
            kept = len(text) - 1
        unread = text[kept:]
        while True:
            logits = yield Rows(cache, unread)
            assert logits is not None
            try:
                token = drawn.send(self._aligned(logits))
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            assert token is not None
            unread = [token]

    @property
    def signature(self) -> str:
        return self._draft.signature

    def unread(self, sequence: TextSequence) -> int:
        if sequence in self._open:
            cache, start = self._open[sequence]
            return len(sequence.tokens) - start - len(cache.tokens)
        known = [] if self._spare is None else self._spare.tokens
        unread = len(sequence.tokens) - shared_prefix(known, sequence.tokens)
        return unread if self._window is None else min(unread, self._window)

    def _opened(self, sequence: TextSequence) -> tuple[CachedSequence, int]:
        """The draft's cache for a sequence, and where in the sequence it begins."""
        if sequence not in self._open:
            start = 0 if self._window is None else max(0, len(sequence.tokens) - self._window)
            # The cache of a closed sequence serves the next one: a chat's turns share a prefix.
            cache, self._spare = self._spare or self._draft.open(), None
            self._open[sequence] = (cache, start)
        return self._open[sequence]

    def _sure(self, evidence: Sequence[float]) -> bool:
        return evidence[-1] >= self._least

    def _understands(self, unread: Sequence[int], params: SamplingParams) -> bool:
        """Whether the draft has a row for every token it is to read and for one that may come.

        The target's may have more rows: padding, in models that share a tokenizer.
        """
        allowed = params.allowed_tokens
        may_come = allowed is None or any(0 <= t < self._draft.vocab_size for t in allowed)
        return may_come and max(unread) < self._draft.vocab_size

    def _aligned(self, logits: LogitArray) -> LogitArray:
        """Logits over the target's vocabulary [V]; the two may differ in padding rows."""
        missing = self._vocab_size - logits.size
        if missing <= 0:
            return logits[: self._vocab_size]
        return np.concatenate([logits, np.full(missing, -np.inf, dtype=logits.dtype)])

    def close(self, sequence: TextSequence) -> None:
        self._spare, _ = self._open.pop(sequence, (self._spare, 0))
