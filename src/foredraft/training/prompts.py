"""Which prompts are fit to learn from: new ones, with something in them, kept from the judges."""

import re
from collections.abc import Iterable

from foredraft.training.states import prompt_key

_SHARED = 36
"""Bytes in a row that a prompt may not share with one that is judged with: 12 Japanese characters,
some six English words."""
_LEAST = 8


class Sieve:
    """Lets a prompt through once, and none that resembles `judges`, the prompts drafts are later
    measured with. `seen` are keys of those that went through before."""

    def __init__(self, judges: Iterable[str], seen: Iterable[str] = ()) -> None:
        self._judged = {piece for text in judges for piece in _pieces(text)}
        self._seen = set(seen)

    def takes(self, text: str, ids: list[int]) -> bool:
        if len(text) < _LEAST or any(piece in self._judged for piece in _pieces(text)):
            return False
        key = prompt_key(ids)
        new = key not in self._seen
        self._seen.add(key)
        return new


def _pieces(text: str) -> Iterable[bytes]:
    spaced = re.sub(r"\s+", " ", text.lower()).strip().encode()
    return (spaced[i : i + _SHARED] for i in range(len(spaced) - _SHARED + 1))
