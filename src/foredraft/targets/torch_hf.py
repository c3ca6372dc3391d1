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
from foredraft.targets.masks import depths_of, tree_mask
from foredraft.targets.packed import has_half, pack
from foredraft.targets.placement import place
from foredraft.targets.weights import load

PREFILL_CHUNK = 512
BITWISE_ROWS = 8
BITWISE_BUCKET = 256


class TorchSequence:
    """A sequence's cache and the tokens it holds."""

    def __init__(self, cache: Slots | Snapshots, bitwise: bool) -> None:
        self.cache = cache
        self.bitwise = bitwise
        self.tokens: list[int] = []
        self.scored: list[int] = []


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
        self._slots = Slots.suits(config)
        self.capabilities = Capabilities(
            rollback=Rollback.FREE if self._slots else Rollback.SNAPSHOT,
            trees=self._slots,
            max_rows=64,
        )

    @property
    def signature(self) -> str:
        size = sum(p.numel() for p in self.model.parameters())
        where = f"{self.weights} {self.model.device} {torch.get_num_threads()} threads"
        return f"torch {torch.__version__} {self.name} {size} {where}"

    def open(self, *, bitwise: bool = False) -> TorchSequence:
        if bitwise and not self._slots:
            raise ForedraftError(
                f"{self.name} has recurrent layers, whose numbers depend on how tokens are "
                "grouped, so exactness 'bitwise' cannot be promised; use 'coupled'."
            )
        return TorchSequence((Slots if self._slots else Snapshots)(self._config), bitwise)

    def fork(self, sequence: CachedSequence, length: int) -> CachedSequence:
        return self.open()

    def room(self, sequence: CachedSequence) -> int:
        own = _own(sequence)
        length = len(own.tokens)
        rows = min(self.capabilities.max_rows, self.context - length)
        if own.bitwise:
            rows = min(rows, BITWISE_ROWS, BITWISE_BUCKET - length % BITWISE_BUCKET)
        return rows

    def rewind(self, sequence: CachedSequence, tokens: Sequence[int]) -> int:
        kept = _own(sequence).cache.truncate(shared_prefix(sequence.tokens, tokens))
        del sequence.tokens[kept:]
        return kept

    def prefill(
        self,
        sequence: CachedSequence,
        tokens: Sequence[int],
        progress: Callable[[int], None] | None = None,
    ) -> None:
        done = self.rewind(sequence, tokens)
        while done < len(tokens):
            chunk = list(tokens[done : done + PREFILL_CHUNK])
            self._forward(
                _own(sequence), chunk, None, len(sequence.tokens) + len(chunk), keep_logits=1
            )
            self.commit(sequence, range(len(chunk)))
            done += len(chunk)
            if progress is not None:
                progress(done)

    def score(self, batch: Sequence[Rows]) -> list[LogitArray]:
        """One pass a sequence; see Target.score."""
        return [self._score(rows) for rows in batch]

    def _score(self, rows: Rows) -> LogitArray:
        sequence = _own(rows.sequence)
        tokens, count = list(rows.tokens), len(rows.tokens)
        visible = len(sequence.tokens) + count
        if sequence.bitwise:
            if not rows.is_chain:
                raise ForedraftError("Exactness 'bitwise' verifies chains, not trees of drafts.")
            visible = -(-visible // BITWISE_BUCKET) * BITWISE_BUCKET
            tokens += [tokens[-1]] * (BITWISE_ROWS - count)
        parents = None if rows.is_chain else rows.parents
        logits = self._forward(sequence, tokens, parents, visible, keep_logits=0)
        sequence.scored = list(rows.tokens)
        return logits[:count]

    @torch.inference_mode()
    def commit(self, sequence: CachedSequence, path: Sequence[int]) -> None:
        own = _own(sequence)
        own.tokens += [own.scored[row] for row in path]
        del own.tokens[own.cache.keep(path) :]

    @torch.inference_mode()
    def _forward(
        self,
        sequence: TorchSequence,
        tokens: list[int],
        parents: Sequence[int] | None,
        visible: int,
        keep_logits: int,
    ) -> LogitArray:
        """Logits [rows, V]; `keep_logits` 0 means of every row, else of that many last ones."""
        start, device = len(sequence.tokens), self.model.device
        if parents is None and sequence.bitwise:
            # The model's own mask is left out where attention is plainly causal, which takes
            # another kernel: other bits.
            parents = range(ROOT, len(tokens) - 1)
        depths = list(range(len(tokens))) if parents is None else depths_of(parents)
        positions = torch.tensor([[min(start + depth, self.context - 1) for depth in depths]])
        sequence.scored = tokens
        sequence.cache.before(len(tokens), visible)
        try:
            out = self.model(
                input_ids=torch.tensor([tokens], device=device),
                position_ids=positions.to(device),
                # None: the model's own causal mask is right for a chain, sliding windows included.
                attention_mask=None
                if parents is None
                else tree_mask(self.model, start, parents, visible),
                cache=sequence.cache.cache,
                use_cache=True,
                logits_to_keep=keep_logits,
            )
        except BaseException as error:
            del sequence.tokens[sequence.cache.abort() :]
            if isinstance(error, MemoryError | torch.OutOfMemoryError):
                raise ForedraftError(
                    f"{self.name} ran out of memory after {start} tokens; use a shorter prompt, a "
                    "smaller model or --dtype bfloat16."
                ) from error
            raise
        logits: LogitArray = out.logits[0].to(torch.float32).cpu().numpy()
        return logits

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
