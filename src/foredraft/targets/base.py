"""What the engine asks of a target, whatever engine runs it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from foredraft.core.types import ROOT, LogitArray

_AT_ONCE = 1024


class Rollback(StrEnum):
    """How refused rows leave the cache."""

    FREE = "free"
    SNAPSHOT = "snapshot"  # recurrent state: kept rows of a partly refused pass are run again


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a target can do: rollback, trees, and the most rows of a sequence a pass may hold.

    `cells` is how many tokens all sequences together may hold, `sequences` how many there may be,
    the branches of trees counted; None where memory alone decides.
    """

    rollback: Rollback
    trees: bool
    max_rows: int
    cells: int | None = None
    sequences: int | None = None


Progress = Callable[[str, int, int], None]
"""Called with (what is being done, done, in total)."""


class CachedSequence(Protocol):
    """One sequence's state inside a target; `tokens` are those whose keys and values it holds."""

    tokens: list[int]


@dataclass(frozen=True, slots=True)
class Rows:
    """Tokens to score after a sequence's cached ones; `parents` as in Draft, a chain if None."""

    sequence: CachedSequence
    tokens: Sequence[int]
    parents: Sequence[int] | None = None

    @property
    def is_chain(self) -> bool:
        return self.parents is None or list(self.parents) == list(range(ROOT, len(self.tokens) - 1))


class TextCodec(Protocol):
    """Text ↔ token ids, as the target's own tokenizer does it."""

    eos_ids: frozenset[int]

    @property
    def special_ids(self) -> frozenset[int]:
        """Tokens that are no text, whatever they are called."""

    @property
    def has_template(self) -> bool:
        """Whether `chat` works; a base model only continues text."""

    @property
    def template(self) -> str:
        """The chat template's own text, which says what it knows beside messages; may be empty."""

    def encode(self, text: str) -> list[int]: ...

    def spell(self, text: str) -> list[int]:
        """The ids of `text` alone: nothing before it, and no special token is meant by a name."""

    def decode(self, ids: Sequence[int]) -> str: ...

    def spelling(self, token: int) -> bytes:
        """The bytes one token stands for, special tokens by name."""

    def chat(self, messages: Sequence[dict[str, str]], **options: object) -> list[int]: ...

    def same_as(self, other: "TextCodec") -> str | None: ...


class Target(Protocol):
    """A model that scores rows. Score, then commit one path of the rows; the rest is dropped."""

    name: str
    engine: str
    vocab_size: int
    context: int
    capabilities: Capabilities
    tokenizer: TextCodec

    @property
    def signature(self) -> str:
        """Everything its speed depends on but the machine: weights, format, device, threads."""

    @property
    def bit_stable(self) -> bool:
        """Whether, opened with `bitwise`, a row's logits do not depend on how rows are grouped."""

    def tap(self, taps: Sequence[int]) -> None:
        """From now on keep hidden states for draft heads (heads/base.py, Features), beside those
        asked for before. ForedraftError where the engine does not give them."""

    def open(self, *, bitwise: bool = False) -> CachedSequence:
        """An empty sequence; `bitwise` fixes the row count and the key/value length of a pass."""

    def fork(self, sequence: CachedSequence, length: int) -> CachedSequence:
        """A new sequence that begins with the first `length` cached tokens of another, or with as
        many of them as can be shared: none of a `bitwise` one or where layers are recurrent."""

    def room(self, sequence: CachedSequence) -> int:
        """The most rows the next `score` may hold for this sequence; 0 at the context limit."""

    def rewind(self, sequence: CachedSequence, tokens: Sequence[int]) -> int:
        """Drop cached tokens beyond the prefix shared with `tokens`; how many remain."""

    def prefill(
        self,
        sequence: CachedSequence,
        tokens: Sequence[int],
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Make the cache hold exactly `tokens`, reusing the prefix they share with it."""

    def score(self, batch: Sequence[Rows]) -> list[LogitArray]:
        """Logits [rows, V] for each sequence of the batch; each must be committed next."""

    def commit(self, sequence: CachedSequence, path: Sequence[int]) -> None:
        """Keep the rows `path` (indices into the last `score`, root first); drop the others."""


def shared_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """How many leading tokens two sequences have in common."""
    shared, size = 0, min(len(left), len(right))
    while shared < size:  # by slices, which is quick: most of a text is shared
        end = min(shared + _AT_ONCE, size)
        if left[shared:end] != right[shared:end]:
            break
        shared = end
    return next((i for i in range(shared, size) if left[i] != right[i]), size)
