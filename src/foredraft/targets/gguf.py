"""A GGUF file as a target at its own quantization, run by llama.cpp."""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.types import LogitArray
from foredraft.targets.base import (
    CachedSequence,
    Capabilities,
    Rollback,
    Rows,
    TextCodec,
    shared_prefix,
)
from foredraft.targets.gguf_pass import GGUFSequence, Pass, chain, fixed, run, tree
from foredraft.targets.llama import CHUNK, OUTPUTS, PAGE, Context, Model, kv_type, release

SEQUENCES = 64
"""Sequences at once, the branches of trees counted."""
RECURRENT_SEQUENCES = 4
"""Fewer where each has a state of its own, made in advance."""
BITWISE_ROWS = (4, 8)
"""Rows of a `bitwise` pass: the first count whose rows are stable. Four at a time is what
llama.cpp's kernels for rearranged weights are made for."""


def _own(sequence: CachedSequence) -> GGUFSequence:
    assert isinstance(sequence, GGUFSequence), "a sequence belongs to the target that opened it"
    return sequence


class GGUFTarget:
    """Scores rows with llama.cpp; several sequences and the branches of a tree share one pass.

    A `bitwise` sequence has a context of its own, because a row's bits depend on which cells its
    keys lie in, and always runs the same number of rows over whole pages of the cache.
    """

    engine = "llama.cpp"

    def __init__(
        self,
        model: Model,
        tokenizer: TextCodec,
        name: str,
        *,
        context: int,
        threads: int,
        kv: str = "f16",
    ) -> None:
        self.tokenizer = tokenizer
        self.name = name
        self.vocab_size = model.vocab_size
        self.context = context
        self.capabilities = Capabilities(
            rollback=Rollback.SNAPSHOT if model.recurrent else Rollback.FREE,
            trees=not model.recurrent,
            max_rows=OUTPUTS,
            cells=context,
            sequences=RECURRENT_SEQUENCES if model.recurrent else SEQUENCES,
        )
        self.signature = (
            f"llama.cpp {release()} {name} {model.size} {model.layout}, {kv}, {threads} threads"
        )
        self._model, self._threads, self._kv = model, threads, kv_type(kv)

    @cached_property
    def _shared(self) -> Context:
        """The context of all sequences that are not `bitwise`."""
        return self._context(self.context, self.capabilities.sequences or 1)

    def _context(self, cells: int, sequences: int) -> Context:
        return Context(
            self._model,
            self.name,
            cells=cells,
            sequences=sequences,
            threads=self._threads,
            kv_type=self._kv,
        )

    def tap(self, taps: Sequence[int]) -> None:
        raise ForedraftError(
            f"{self.name} runs on llama.cpp, which does not hand out the hidden states that a "
            "draft head reads; use --engine torch, or a draft model."
        )

    def open(self, *, bitwise: bool = False) -> GGUFSequence:
        if not bitwise:
            return GGUFSequence(self._shared, 0)
        if self._model.recurrent:
            raise ForedraftError(
                f"{self.name} has recurrent layers, whose numbers depend on how tokens are "
                "grouped, so exactness 'bitwise' cannot be promised; use 'coupled'."
            )
        rows = self._stable_rows or BITWISE_ROWS[0]
        return GGUFSequence(self._context(self.context, 1), rows)

    def fork(self, sequence: CachedSequence, length: int) -> GGUFSequence:
        own = _own(sequence)
        if own.rows or self._model.recurrent:
            return self.open(bitwise=bool(own.rows))
        forked, tokens = self.open(), own.tokens[:length]
        forked.context.copy(own.ids[0], forked.ids[0])
        forked.tokens = tokens[: self._shorten(forked, len(tokens))]
        return forked

    def room(self, sequence: CachedSequence) -> int:
        own = _own(sequence)
        length = len(own.tokens)
        rows = min(self.capabilities.max_rows, self.context - length)
        return min(rows, own.rows, PAGE - length % PAGE) if own.rows else rows

    def rewind(self, sequence: CachedSequence, tokens: Sequence[int]) -> int:
        own = _own(sequence)
        self._settle(own)
        kept = shared_prefix(own.tokens, tokens)
        if kept < len(own.tokens):
            kept = self._shorten(own, kept)
        del own.tokens[kept:]
        return kept

    def prefill(
        self,
        sequence: CachedSequence,
        tokens: Sequence[int],
        progress: Callable[[int], None] | None = None,
    ) -> None:
        own, done = _own(sequence), self.rewind(sequence, tokens)
        while done < len(tokens):
            own.scored = list(tokens[done : done + CHUNK])
            count = len(own.scored)
            own.context.run(own.scored, range(done, done + count), [own.ids] * count, logits=False)
            done += count
            self.commit(own, range(count))
            if progress is not None:
                progress(done)

    def score(self, batch: Sequence[Rows]) -> list[LogitArray]:
        """As few passes as the rows fit in; see Target.score."""
        passes = [self._prepare(rows) for rows in batch]
        answers: list[LogitArray] = []
        while len(answers) < len(passes):
            begin = end = len(answers)
            context, size = _own(batch[begin].sequence).context, 0
            while end < len(passes) and _own(batch[end].sequence).context is context:
                size += len(passes[end].tokens)
                if size > OUTPUTS and end > begin:
                    break
                end += 1
            answers += run(context, passes[begin:end])
        return answers

    def commit(self, sequence: CachedSequence, path: Sequence[int]) -> None:
        own, path = _own(sequence), list(path)
        tokens = [own.scored[row] for row in path]
        home = own.homes[path[-1]] if own.homes and path else own.ids[0]
        for branch in own.ids:
            if branch != home:
                own.context.give(branch)
        own.ids[:] = [home]
        length = len(own.tokens) + len(path)
        # Even where every row is kept: a bitwise pass has more rows than that.
        kept = self._shorten(own, length)
        own.scored, own.homes, own.saved = [], [], None
        own.tokens += tokens
        del own.tokens[kept:]

    def _settle(self, own: GGUFSequence) -> None:
        """Drop rows scored and never committed, because an error or Ctrl-C came between."""
        if own.scored:
            self.commit(own, [])

    def _shorten(self, own: GGUFSequence, length: int) -> int:
        """Drop what the cache holds beyond `length`; how many tokens then remain, maybe fewer."""
        context, sequence = own.context, own.ids[0]
        if context.cut(sequence, length):
            window = self._model.window or length
            first, end = context.span(sequence)
            # Another sequence may have taken cells that had left this one's sliding window, and
            # by the rewinding they are in it again; a failed pass may have left less than it met.
            near = self._model.recurrent or first <= max(0, length - window)
            if length == 0 or (near and end == length):
                return length
        elif own.saved is not None and own.saved[0] <= length:
            kept, state = own.saved
            if context.restore(sequence, state) and context.cut(sequence, kept):
                return kept
        context.cut(sequence, 0)
        return 0

    def _prepare(self, rows: Rows) -> Pass:
        own = _own(rows.sequence)
        self._settle(own)
        if not rows.is_chain and own.rows:
            raise ForedraftError("Exactness 'bitwise' verifies chains, not trees of drafts.")
        if not rows.is_chain and not self.capabilities.trees:
            raise ForedraftError(f"{self.name} has recurrent layers and verifies chains only.")
        if self._model.recurrent and len(rows.tokens) > 1:
            own.saved = (len(own.tokens), own.context.save(own.ids[0]))
        own.scored = list(rows.tokens)
        if rows.is_chain or rows.parents is None:
            return fixed(own) if own.rows else chain(own)
        return tree(own, rows.parents)

    @property
    def bit_stable(self) -> bool:
        return not self._model.recurrent and self._stable_rows is not None

    @cached_property
    def _stable_rows(self) -> int | None:
        """Measured once: the smallest row count whose rows do not depend on their grouping."""
        return next((rows for rows in BITWISE_ROWS if self._is_stable(rows)), None)

    def _is_stable(self, rows: int) -> bool:
        """Whether the same tokens, grouped three ways, give the same bits."""
        tokens = [(7919 * i) % self.vocab_size for i in range(2 * rows)]
        made: list[LogitArray] = []
        for group in (1, rows, 3):
            sequence, logits = GGUFSequence(self._context(PAGE, 1), rows), []
            for begin in range(0, len(tokens), group):
                chunk = tokens[begin : begin + group]
                logits += self.score([Rows(sequence, chunk)])
                self.commit(sequence, range(len(chunk)))
            made.append(np.concatenate(logits))
        return all(np.array_equal(made[0], other) for other in made[1:])
