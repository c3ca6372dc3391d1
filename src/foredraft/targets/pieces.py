"""The bytes that a vocabulary's entries stand for, however the vocabulary spells them."""

import re
from collections.abc import Callable, Sequence

Pieces = Sequence[bytes | None]
"""By id; None for padding entries and holes."""

_PADDING = re.compile(r"\[PAD\d+\]")


def is_padding(token: str) -> bool:
    """Whether an entry only fills the vocabulary up to the rows of a matrix."""
    return bool(_PADDING.fullmatch(token))


def speller(byte_level: bool) -> Callable[[str], bytes]:
    """An entry's text → its bytes, in a byte-level vocabulary (GPT-2) or SentencePiece's."""
    return _from_byte_level if byte_level else _from_sentencepiece


def differing(left: Pieces, right: Pieces) -> list[int]:
    """The ids below both sizes that stand for other bytes in one than in the other.

    Padding entries and holes are passed over: no text is ever made of them.
    """
    pairs = zip(left, right, strict=False)
    return [i for i, (a, b) in enumerate(pairs) if a != b and a is not None and b is not None]


def _byte_alphabet() -> dict[str, int]:
    """The printable character that stands for each byte in GPT-2's byte-level vocabularies."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(256 + n): b for n, b in enumerate(others)}


_BYTES = _byte_alphabet()


def _from_byte_level(token: str) -> bytes:
    try:
        return bytes(_BYTES[c] for c in token)
    except KeyError:  # an entry that is text as it stands
        return token.encode()


def _from_sentencepiece(token: str) -> bytes:
    if re.fullmatch(r"<0x[0-9A-F]{2}>", token):
        return bytes([int(token[3:5], 16)])
    return token.replace("▁", " ").encode()
