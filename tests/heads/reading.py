"""A target's sequence as heads find it: the hidden states of a text, all but its last token's."""

from collections.abc import Sequence
from typing import Any

from foredraft.heads.base import Head


def features(target: Any, head: Head, text: Sequence[int]) -> Any:
    target.tap(head.taps)
    sequence = target.open()
    target.prefill(sequence, list(text[:-1]))
    return sequence


def text_of(length: int, size: int = 32) -> list[int]:
    return [(7 * i + i * i) % size for i in range(length)]
