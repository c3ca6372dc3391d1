"""The token that ends a turn, where only its text tells."""

from collections.abc import Sequence

_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end_of_turn|>", "<|end|>", "<EOT>")


def end_of_turn(tokens: Sequence[str | None]) -> int | None:
    """The id of the first known name of such a token that the vocabulary has."""
    return next((tokens.index(name) for name in _ENDS if name in tokens), None)
