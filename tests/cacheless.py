"""A target without a cache of its own: what it holds of a sequence is the tokens."""

from collections.abc import Callable, Sequence

from foredraft.core.types import ROOT, LogitArray
from foredraft.targets.base import CachedSequence, Capabilities, Rows, shared_prefix
from tests.worlds import Text


class Held:
    """What a cache would hold: its tokens."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.scored: list[int] = []


class Cacheless:
    """All of a Target but its arithmetic, `logits`, and what says what it is."""

    context: int
    capabilities: Capabilities

    def logits(self, texts: Sequence[Text], rows: Sequence[int]) -> LogitArray:
        """What follows each of `texts`, which end in the tokens of a pass, `rows`: [rows, V]."""
        raise NotImplementedError

    def open(self, *, bitwise: bool = False) -> Held:
        return Held()

    def room(self, sequence: CachedSequence) -> int:
        return min(self.capabilities.max_rows, self.context - len(sequence.tokens))

    def rewind(self, sequence: CachedSequence, tokens: Sequence[int]) -> int:
        del sequence.tokens[shared_prefix(sequence.tokens, tokens) :]
        return len(sequence.tokens)

    def prefill(
        self,
        sequence: CachedSequence,
        tokens: Sequence[int],
        progress: Callable[[int], None] | None = None,
    ) -> None:
        sequence.tokens[:] = tokens

    def score(self, batch: Sequence[Rows]) -> list[LogitArray]:
        return [self._score(rows) for rows in batch]

    def _score(self, rows: Rows) -> LogitArray:
        assert isinstance(rows.sequence, Held)
        rows.sequence.scored = list(rows.tokens)
        texts: list[Text] = []
        parents = rows.parents or range(ROOT, len(rows.tokens) - 1)
        for token, parent in zip(rows.tokens, parents, strict=True):
            before = tuple(rows.sequence.tokens) if parent == ROOT else texts[parent]
            texts.append((*before, token))
        return self.logits(texts, rows.tokens)

    def commit(self, sequence: CachedSequence, path: Sequence[int]) -> None:
        assert isinstance(sequence, Held)
        sequence.tokens += [sequence.scored[row] for row in path]
