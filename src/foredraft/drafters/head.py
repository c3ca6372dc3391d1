"""A head that reads the target's hidden states as the draft (EAGLE, Medusa, MTP and their kin)."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from foredraft.core.sequence import TextSequence
from foredraft.core.shape import Shape
from foredraft.core.types import ROOT, Draft, LogitArray
from foredraft.drafters.base import GoOn, Wanted
from foredraft.drafters.branching import drawn, grown
from foredraft.drafters.chain import drawing
from foredraft.heads.base import Head, HeadState
from foredraft.targets.base import Target, shared_prefix

_WIDEST = 6
"""The most nodes of a level that are continued."""


class HeadDrafter:
    """Drafts with `head`, which reads what `target` computed; taps the target for it.

    `greedy` proposes the head's most likely tokens, reported as one-hot; otherwise tokens are drawn
    from q, the head's law under the request's own settings, and q is reported as drawn.
    """

    free = False
    branches = True
    expected: tuple[tuple[float, float], ...] = (
        (0, 0.03),
        (0.03, 0.08),
        (0.1, 0.18),
        (0.2, 0.28),
        (0.3, 0.4),
        (0.5, 0.55),
        (0.7, 0.7),
        (0.9, 0.85),
        (0.98, 0.95),
    )

    def __init__(self, head: Head, target: Target, greedy: bool = False) -> None:
        target.tap(head.taps)
        self.name, self.reach = head.name, head.reach
        self._head = head
        self._greedy = greedy
        self._open: WeakKeyDictionary[TextSequence, HeadState] = WeakKeyDictionary()
        self._spare: HeadState | None = None

    @property
    def signature(self) -> str:
        return self._head.signature

    def passes(self, depth: int) -> int:
        return min(depth, 1) if self._head.parallel else depth

    def propose(
        self,
        sequence: TextSequence,
        limit: int,
        go_on: GoOn | None = None,
        shape: Shape | None = None,
    ) -> Draft:
        """See CostlyDrafter; the text's target sequence must hold all of it but the last token."""
        depth = limit if self.reach is None else min(limit, self.reach)
        if depth <= 0 or len(sequence.tokens) < 2:  # before the second token is no hidden state
            return Draft.chain([], source=self.name)
        go_on = go_on or _always
        state = self._opened(sequence)
        logits = state.read(sequence.cached, sequence.tokens)
        if shape is not None and not self._draws(sequence):
            return grown(
                sequence,
                logits,
                state.grow,
                limit,
                depth,
                min(shape.width, _WIDEST),
                go_on,
                self._greedy,
                self.name,
            )
        if shape is not None and not shape.is_chain:
            return drawn(sequence, logits, state.grow, shape.parents, self.name)
        return self._chain(sequence, logits, state, depth, go_on)

    def _draws(self, sequence: TextSequence) -> bool:
        """Whether tokens are judged by the q they were drawn from, and not by the target's own
        draw, whose noise is known, or by being likely."""
        params, noise = sequence.params, sequence.noise
        return not (self._greedy or params.is_greedy or noise.coupled)

    def _chain(
        self,
        sequence: TextSequence,
        logits: LogitArray,
        state: HeadState,
        limit: int,
        go_on: GoOn,
    ) -> Draft:
        chain = drawing(sequence, limit, go_on, self._greedy, self.name)
        next(chain)
        node = ROOT
        while True:
            try:
                token = chain.send(logits)
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
