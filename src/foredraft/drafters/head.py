"""A head that reads the target's hidden states as the draft (EAGLE, Medusa, MTP and their kin)."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from foredraft.core.sequence import TextSequence
from foredraft.core.types import ROOT, Draft
from foredraft.drafters.base import GoOn, Wanted
from foredraft.drafters.chain import EXPECTED, drawing
from foredraft.heads.base import Head, HeadState
from foredraft.targets.base import Target, shared_prefix


class HeadDrafter:
    """Drafts with `head`, which reads what `target` computed; taps the target for it.

    `greedy` proposes the head's most likely tokens, reported as one-hot; otherwise tokens are drawn
    from q, the head's law under the request's own settings, and q is reported as drawn.
    """

    free = False
    expected: tuple[tuple[float, float], ...] = EXPECTED

    def __init__(self, head: Head, target: Target, greedy: bool = False) -> None:
        target.tap(head.taps)
        self.name = head.name
        self._head = head
        self._greedy = greedy
        self._open: WeakKeyDictionary[TextSequence, HeadState] = WeakKeyDictionary()
        self._spare: HeadState | None = None

    @property
    def signature(self) -> str:
        return self._head.signature

    def propose(self, sequence: TextSequence, limit: int, go_on: GoOn | None = None) -> Draft:
        """See CostlyDrafter; the text's target sequence must hold all of it but the last token."""
        text, reach = sequence.tokens, self._head.reach
        limit = limit if reach is None else min(limit, reach)
        if limit <= 0 or len(text) < 2:  # before the second token there is no hidden state
            return Draft.chain([], source=self.name)
        state = self._opened(sequence)
        drawn = drawing(sequence, limit, go_on or _always, self._greedy, self.name)
        next(drawn)
        logits, node = state.read(sequence.cached, text), ROOT
        while True:
            try:
                token = drawn.send(logits)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            assert token is not None
            logits, node = state.grow([token], [node])[0], node + 1

    def propose_together(self, wanted: Sequence[Wanted]) -> list[Draft]:
        return [self.propose(*one) for one in wanted]

    def unread(self, sequence: TextSequence) -> int:
        state = self._open.get(sequence, self._spare)
        known = [] if state is None else state.tokens
        return len(sequence.tokens) - shared_prefix(known, sequence.tokens)

    def _opened(self, sequence: TextSequence) -> HeadState:
        """The head's state of a text, cut to what they share; the last token is left to read."""
        if sequence not in self._open:
            # The state of a closed text serves the next one: a chat's turns share a prefix.
            state, self._spare = self._spare or self._head.open(), None
            self._open[sequence] = state
        state = self._open[sequence]
        shared = shared_prefix(state.tokens, sequence.tokens[:-1])
        if shared < len(state.tokens):
            state.rewind(shared)
        return state

    def close(self, sequence: TextSequence) -> None:
        self._spare = self._open.pop(sequence, self._spare)


def _always(evidence: Sequence[float]) -> bool:
    return True
