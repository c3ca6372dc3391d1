"""The decode cycle: draft, verify, accept, commit."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import overload

from foredraft.core.accept import match, rejection, traversal
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.stats import Stats
from foredraft.core.types import ROOT, Draft, Exactness, FloatArray, LogitArray, Verdict
from foredraft.engine.control import Controller, Decision, Outcome
from foredraft.targets.base import CachedSequence, Rows, Target


class LazyLaws(Sequence[FloatArray]):
    """p after each row of a pass, computed when asked for: rows past a refusal never are."""

    def __init__(self, sequence: TextSequence, logits: LogitArray, draft: Draft) -> None:
        self._sequence = sequence
        self._logits = logits
        self._draft = draft
        self._known: dict[int, FloatArray] = {}

    def __len__(self) -> int:
        return len(self._logits)

    @overload
    def __getitem__(self, row: int) -> FloatArray: ...
    @overload
    def __getitem__(self, row: slice) -> list[FloatArray]: ...
    def __getitem__(self, row: int | slice) -> FloatArray | list[FloatArray]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        if row not in self._known:
            self._known[row] = self._law(row, self._sequence.params)
        return self._known[row]

    def reported(self, row: int) -> FloatArray:
        """The p that logprobs report for a row; only meaningful before its tokens are committed."""
        return self._law(row, self._sequence.params.reported)

    def _law(self, row: int, params: SamplingParams) -> FloatArray:
        path: list[int] = []
        node = row - 1
        while node != ROOT:
            path.append(self._draft.tokens[node])
            node = self._draft.parents[node]
        return self._sequence.law(self._logits[row], path[::-1], params)


class Lap:
    """How long a part of a round took; known when it is over."""

    seconds = 0.0


@dataclass(frozen=True, slots=True)
class Round:
    """One target pass: its draft, the verdict on it, and p after each of its rows.

    `decision` says why this draft, where the controller had a choice.
    """

    draft: Draft
    verdict: Verdict
    laws: LazyLaws
    draft_s: float
    verify_s: float
    decision: Decision | None

    @property
    def emitted(self) -> list[int]:
        return [*(self.draft.tokens[node] for node in self.verdict.path), self.verdict.token]

    @property
    def rows(self) -> list[int]:
        """The row whose p chose each emitted token: the committed token's, then the path's."""
        return [0, *(node + 1 for node in self.verdict.path)]


@dataclass(slots=True)
class Cycle:
    """The rounds of one sequence: draft, verify, accept, commit."""

    target: Target
    controller: Controller
    sequence: TextSequence
    cache: CachedSequence
    exactness: Exactness
    stats: Stats
    plain_steps: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sequence.cached = self.cache

    def round(self, limit: int, read: Callable[[Round], int]) -> Round:
        """One target pass with at most `limit` drafted tokens.

        `read` says how many of the emitted tokens count, since the text may end inside a run.
        """
        with timed(self.stats, "draft_s") as drafting:
            draft = self.controller.propose(self.sequence, limit)
        with timed(self.stats, "verify_s") as verifying:
            logits = self._verify(draft)
        done, emitted = self.accept(draft, logits, drafting.seconds, verifying.seconds, read)
        self.controller.observe(Outcome(done.emitted[:emitted], done.draft_s, done.verify_s))
        return done

    def rows(self, draft: Draft) -> Rows:
        """What verifies a draft: the last committed token, and the draft after it."""
        # A no-op but for targets that roll back by snapshot and owe their cache some tokens.
        self.target.prefill(self.cache, self.sequence.tokens[:-1])
        tokens = [self.sequence.tokens[-1], *draft.tokens]
        return Rows(self.cache, tokens, [ROOT, *(parent + 1 for parent in draft.parents)])

    def accept(
        self,
        draft: Draft,
        logits: LogitArray,
        draft_s: float,
        verify_s: float,
        read: Callable[[Round], int],
    ) -> tuple[Round, int]:
        """Judge a verified draft and keep what counts of it: the round, and how many tokens."""
        with timed(self.stats, "accept_s"):
            laws = LazyLaws(self.sequence, logits, draft)
            verdict = judge(laws, draft, self.sequence, self.exactness)
        done = Round(draft, verdict, laws, draft_s, verify_s, self.controller.decision)
        emitted = read(done)
        with timed(self.stats, "verify_s"):
            self._commit(done, emitted)
        return done, emitted

    def _verify(self, draft: Draft) -> LogitArray:
        rows = self.rows(draft)
        begun = time.perf_counter()
        (logits,) = self.target.score([rows])
        if len(draft) == 0:
            self.plain_steps.append(time.perf_counter() - begun)
        return logits

    def _commit(self, done: Round, emitted: int) -> None:
        """Keep the first `emitted` tokens; the last of them is the next round's row 0."""
        self.target.commit(self.cache, done.rows[:emitted])
        self.sequence.tokens += done.emitted[:emitted]
        accepted = min(emitted, len(done.verdict.path))
        rejected = int(emitted == len(done.emitted) and done.verdict.rejected > 0)
        self.stats.record(len(done.draft), accepted, rejected, emitted, done.draft.source)


@contextmanager
def timed(stats: Stats, name: str) -> Iterator[Lap]:
    """Add how long a part of a round takes to one of its times."""
    lap, begun = Lap(), time.perf_counter()
    try:
        yield lap
    finally:
        lap.seconds = time.perf_counter() - begun
        setattr(stats, name, getattr(stats, name) + lap.seconds)


def judge(
    laws: Sequence[FloatArray], draft: Draft, sequence: TextSequence, exactness: Exactness
) -> Verdict:
    """Apply the acceptance rule of an exactness level.

    `bitwise` and `coupled` compare the draft with the target's own draw at each position, which
    depends on the seed and the position alone. `distribution` accepts the most tokens: block or
    traversal verification for sampled drafts, which token-level rejection equals for one-hot q.
    """
    noise, position = sequence.noise, len(sequence.tokens)
    if exactness is not Exactness.DISTRIBUTION:
        return match(laws, draft, lambda depth, p: noise.draw_target(position + depth, p))
    return (rejection if draft.q is None else traversal)(laws, draft, noise)
