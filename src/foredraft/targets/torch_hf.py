"""Any Transformers causal language model as a target, on CPU, CUDA or MPS."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch

from foredraft.core.errors import ForedraftError
from foredraft.core.types import ROOT, LogitArray
from foredraft.targets.attention import group_heads
from foredraft.targets.base import (
    CachedSequence,
    Capabilities,
    Progress,
    Rollback,
    Rows,
    TextCodec,
    shared_prefix,
)
from foredraft.targets.kv import Slots, Snapshots
from foredraft.targets.masks import known
from foredraft.targets.packed import has_half, pack
from foredraft.targets.placement import place
from foredraft.targets.taps import Taps
from foredraft.targets.together import may_suit
from foredraft.targets.torch_pass import Part, TorchSequence, run
from foredraft.targets.weights import load

PREFILL_CHUNK = 512
PASS_ROWS = 256
"""The most rows of several sequences in one pass: more would gain little, and their masks and
logits take memory."""
BITWISE_ROWS = 8
BITWISE_BUCKET = 256


def _own(sequence: CachedSequence) -> TorchSequence:
    assert isinstance(sequence, TorchSequence), "a sequence belongs to the target that opened it"
    return sequence


class TorchTarget:
    """Scores rows with a Transformers model and its own rollback-safe cache.

    `bitwise` sequences always run BITWISE_ROWS rows (padded) over a key/value length that depends
    on the position alone, so a row's logits do not depend on how the rows were grouped.
    """

    engine = "torch"

    def __init__(
        self, model: Any, tokenizer: TextCodec, name: str, weights: torch.dtype | None = None
    ) -> None:
        """`weights` is the format they are kept in where the model computes in another."""
        config = model.config.get_text_config(decoder=True)
        self.model = model
        self.tokenizer = tokenizer
        self.name = name
        self.weights: torch.dtype = weights or model.dtype
        self.vocab_size: int = config.vocab_size
        self.context: int = getattr(config, "max_position_embeddings", None) or 1 << 20
        self._config = config
        self._taps = Taps(model)
        self._slots = Slots.suits(config)
        self.capabilities = Capabilities(
            rollback=Rollback.FREE if self._slots else Rollback.SNAPSHOT,
            trees=self._slots and known(config),
            max_rows=64,
        )

    @property
    def signature(self) -> str:
        size = sum(p.numel() for p in self.model.parameters())
        where = f"{self.weights} {self.model.device} {torch.get_num_threads()} threads"
        return f"torch {torch.__version__} {self.name} {size} {where}"

    def tap(self, taps: Sequence[int]) -> None:
        """See Target.tap. A sequence that has read tokens by now reads them again in its next
        `rewind` or `prefill`."""
        self._taps.add(taps)

    def open(self, *, bitwise: bool = False) -> TorchSequence:
        if bitwise and not self._slots:
            raise ForedraftError(
                f"{self.name} has recurrent layers, whose numbers depend on how tokens are "
                "grouped, so exactness 'bitwise' cannot be promised; use 'coupled'."
            )
        return TorchSequence((Slots if self._slots else Snapshots)(self._config), bitwise)

    def room(self, sequence: CachedSequence) -> int:
        own = _own(sequence)
        length = len(own.tokens)
        rows = min(self.capabilities.max_rows, self.context - length)
        if own.bitwise:
            rows = min(rows, BITWISE_ROWS, BITWISE_BUCKET - length % BITWISE_BUCKET)
        return rows

    def rewind(self, sequence: CachedSequence, tokens: Sequence[int]) -> int:
        own = _own(sequence)
        lacking = own.states.lack(self._taps.places)
        kept = own.cache.truncate(0 if lacking else shared_prefix(own.tokens, tokens))
        del own.tokens[kept:]
        own.states.length = kept
        return kept

    @torch.inference_mode()
    def fork(self, sequence: CachedSequence, length: int) -> TorchSequence:
        own = _own(sequence)
        forked = self.open(bitwise=own.bitwise)
        if not own.bitwise:
            forked.tokens = own.tokens[:length]
            forked.cache = own.cache.fork(len(forked.tokens))
            forked.states = own.states.copy(len(forked.tokens))
            del forked.tokens[forked.cache.truncate(len(forked.tokens)) :]
        return forked

    def prefill(
        self,
        sequence: CachedSequence,
        tokens: Sequence[int],
        progress: Callable[[int], None] | None = None,
    ) -> None:
        own, done = _own(sequence), self.rewind(sequence, tokens)
        while done < len(tokens):
            chunk = list(tokens[done : done + PREFILL_CHUNK])
            self._run([Part(own, chunk, None, done + len(chunk))], last_only=True)
            self.commit(own, range(len(chunk)))
            done += len(chunk)
            if progress is not None:
                progress(done)

    def score(self, batch: Sequence[Rows]) -> list[LogitArray]:
        """As few passes as the rows fit in; one for each sequence that is `bitwise`, and for all
        where the model cannot run several at once. See Target.score."""
        parts = [self._prepare(rows) for rows in batch]
        answers: dict[int, LogitArray] = {}
        try:
            for group in self._passes(parts):
                logits, row = self._run([parts[i] for i in group]), 0
                for i in group:
                    answers[i] = logits[row : row + len(batch[i].tokens)]
                    row += len(parts[i].tokens)
        except BaseException:
            for part in parts:  # also those of passes that did not fail: nobody will commit them
                self.commit(part.sequence, [])
            raise
        return [answers[i] for i in range(len(batch))]

    def _prepare(self, rows: Rows) -> Part:
        own, tokens = _own(rows.sequence), list(rows.tokens)
        parents = None if rows.is_chain else rows.parents
        visible = len(own.tokens) + len(tokens)
        if own.bitwise:
            if parents is not None:
                raise ForedraftError("Exactness 'bitwise' verifies chains, not trees of drafts.")
            visible = -(-visible // BITWISE_BUCKET) * BITWISE_BUCKET
            tokens += tokens[-1:] * (BITWISE_ROWS - len(tokens))
        return Part(own, tokens, parents, visible)

    def _passes(self, parts: Sequence[Part]) -> list[list[int]]:
        """Which parts run together."""
        free = [i for i, part in enumerate(parts) if not part.sequence.bitwise]
        if len(free) < 2 or not self._mixes:
            return [[i] for i in range(len(parts))]
        passes = [[i] for i in range(len(parts)) if parts[i].sequence.bitwise]
        size = PASS_ROWS
        for i in free:
            size += len(parts[i].tokens)
            if size > PASS_ROWS:
                passes.append([])
                size = len(parts[i].tokens)
            passes[-1].append(i)
        return passes

    @cached_property
    def _mixes(self) -> bool:
        """Measured once: sequences that share a pass must be answered as each is alone."""
        if not (self._slots and may_suit(self.model)):
            return False
        tokens = [(7919 * i) % self.vocab_size for i in range(12)]
        long, short = self.open(), self.open()
        self.prefill(long, tokens[:5])
        parts = [
            self._prepare(Rows(short, tokens[5:8], (ROOT, 0, 0))),
            self._prepare(Rows(long, tokens[8:])),
        ]
        alone = np.concatenate([self._run([part]) for part in parts])
        try:
            together = self._run(parts)
        except Exception:  # the model's own code did not expect keys in pieces
            return False
        noise = torch.finfo(self.model.dtype).eps ** 0.5 * np.abs(alone).max()
        return np.allclose(alone, together, rtol=0, atol=float(noise))

    def _run(self, parts: Sequence[Part], last_only: bool = False) -> LogitArray:
        """One pass; if it fails, each sequence's cache holds what it held, or less."""
        held = sum(part.start for part in parts)
        try:
            return run(self.model, parts, self.context, self._taps, last_only)
        except BaseException as error:
            for part in parts:
                del part.sequence.tokens[part.sequence.cache.abort() :]
                part.sequence.states.length = len(part.sequence.tokens)
            if isinstance(error, MemoryError | torch.OutOfMemoryError):
                raise ForedraftError(
                    f"{self.name} ran out of memory after {held} tokens; use a shorter prompt, a "
                    "smaller model or --dtype bfloat16."
                ) from error
            raise

    @torch.inference_mode()
    def commit(self, sequence: CachedSequence, path: Sequence[int]) -> None:
        own = _own(sequence)
        own.states.keep(len(own.tokens), path)
        own.tokens += [own.scored[row] for row in path]
        del own.tokens[own.cache.keep(path) :]

    @cached_property
    def bit_stable(self) -> bool:
        """Measured once: the same tokens, grouped three ways, must give the same bits."""
        if not self._slots:
            return False
        tokens = [(7919 * i) % self.vocab_size for i in range(BITWISE_ROWS)]
        reference: LogitArray | None = None
        for group in (1, BITWISE_ROWS, 3):
            sequence, rows = self.open(bitwise=True), []
            for i in range(0, len(tokens), group):
                chunk = tokens[i : i + group]
                rows.append(self.score([Rows(sequence, chunk)])[0])
                self.commit(sequence, range(len(chunk)))
            logits = np.concatenate(rows)
            if reference is not None and not np.array_equal(logits, reference):
                return False
            reference = logits
        return True


def load_target(
    name: str,
    dtype: str = "auto",
    device: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> TorchTarget:
    """The target for a known name, a folder, a GGUF file or a Hugging Face repository.

    Raises ForedraftError with one sentence for whatever cannot be found, read or placed.
    """
    if threads is not None:
        if threads < 1:
            raise ForedraftError(f"threads is {threads}; it must be 1 or more.")
        torch.set_num_threads(threads)
    kind, where = place(dtype, device)
    half = kind == torch.float16 and where.type == "cpu" and has_half()
    loaded = load(name, torch.float32 if half else kind, where, progress)
    report = progress or (lambda what, done, total: None)
    pack(loaded.model, half, lambda done, total: report(f"Packing {name}", done, total))
    group_heads(loaded.model)
    return TorchTarget(loaded.model, loaded.tokenizer, loaded.name, kind)
