"""What a layer keeps of the text it has read, and how many bytes that takes."""

from dataclasses import dataclass

_VALUE, _STATE = 2, 4
"""Bytes: engines keep keys and values in 16 bits, recurrent states in 32, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class LayerCache:
    """`values` numbers for each token, of the last `window` tokens only if that is set, and
    `state` numbers whatever the length. A `recurrent` state cannot be cut back to an earlier token.
    """

    values: int = 0
    window: int | None = None
    state: int = 0
    recurrent: bool = False

    def size(self, context: int) -> int:
        """Bytes for `context` tokens."""
        kept = context if self.window is None else min(context, self.window)
        return self.values * kept * _VALUE + self.state * _STATE
