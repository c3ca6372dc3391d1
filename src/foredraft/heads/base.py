"""What a draft head is: a network that drafts from the hidden states of its target."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from foredraft.core.types import LogitArray


class Features(Protocol):
    """What a tapped target keeps of a sequence: hidden states of the tokens in its cache."""

    def hidden(self, taps: Sequence[int], start: int, end: int) -> Any:
        """Those of positions start … end − 1, a tensor [end − start, len(taps) · H].

        A tap is an index into Transformers' `hidden_states`: 0 the embeddings, i what layer i
        reads, the number of layers what the last norm gives. Taps lie side by side as asked.
        """


class HeadState(Protocol):
    """What a head holds of one text: `tokens` are the committed ones it has read, each beside the
    hidden state before it, and below them the nodes of the draft in the making."""

    tokens: list[int]

    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        """Read on to the end of `text`, which begins with `tokens`; drop the nodes before.

        The target holds all of `text` but its last token, so hidden state i goes with token i + 1.
        Logits [V] of the token after the text, −inf where the head has no row.
        """

    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        """Add nodes below the text (parent ROOT) or below earlier nodes, which are numbered in the
        order they were added; logits [n, V] of what follows each."""

    def rewind(self, length: int) -> None:
        """Forget the tokens beyond the first `length`, and all nodes."""


@runtime_checkable
class Head(Protocol):
    """A network that drafts from the target's hidden states.

    `taps` are those it reads; `reach` the most tokens deep it drafts, None for no end. A `parallel`
    head knows all depths after one pass: growing it costs nothing.
    """

    @property
    def name(self) -> str: ...

    @property
    def taps(self) -> tuple[int, ...]: ...

    @property
    def reach(self) -> int | None: ...

    @property
    def parallel(self) -> bool: ...

    @property
    def signature(self) -> str:
        """Everything its speed depends on but the machine; see Target.signature."""

    def open(self) -> HeadState:
        """The state of a text of which nothing is read."""
