"""Where the endings of a growing text occurred before: hash chains, as in LZ77."""

from array import array
from collections.abc import Iterator, Sequence

END = -1
"""Parts texts from each other where several are kept together; no token's id."""

Copy = tuple[int, list[int]]
"""(how many tokens before it agree with a text's ending, what followed it there)."""

_KEYS = (4, 2, 1)
_RECENT = 16
_DEEP = 32


def agreement(text: Sequence[int], end: int, ending: Sequence[int]) -> int:
    """How many tokens of `text` up to `end` equal the last of `ending`; 32 are enough."""
    most = min(_DEEP, end, len(ending))
    return next((n for n in range(most) if text[end - 1 - n] != ending[-1 - n]), most)


class Places:
    """Each place of a text, or of several parted by END, by the four, two and one tokens before.

    Time and memory are constant a token, to add it, to forget it and to look an ending up: the
    places after one key form a chain from the latest back, of which only a part is followed.
    """

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self._forgotten = 0
        self._chains = [_Chain(length) for length in _KEYS]

    def __len__(self) -> int:
        return len(self.tokens) - self._forgotten

    def extend(self, tokens: Sequence[int]) -> None:
        """Add tokens; a place is known once there is a token after it."""
        begun = len(self.tokens)
        self.tokens += tokens
        for chain in self._chains:
            chain.extend(self.tokens, begun)

    def forget(self, count: int) -> None:
        """Forget the first `count` tokens, the last of which must be END."""
        first = self._forgotten
        self._forgotten += count
        for chain in self._chains:
            chain.forget(self.tokens, first, self._forgotten)
        # Moving what remains costs as much as there is of it: only when half of all is gone.
        if 2 * self._forgotten > len(self.tokens):
            for chain in self._chains:
                chain.drop(self._forgotten)
            del self.tokens[: self._forgotten]
            self._forgotten = 0

    def continuations(self, limit: int) -> list[Copy]:
        """How this text, which is one, went on after its own ending, the latest first.

        What runs into the end goes on with its own copy: a repeated pattern.
        """
        tokens, size = self.tokens, len(self.tokens)
        return [
            (agreed, [tokens[place + i % (size - place)] for i in range(limit)])
            for agreed, place in self.find(tokens)
        ]

    def after(self, ending: Sequence[int], limit: int) -> list[Copy]:
        """How these texts went on after `ending`, the latest first, each up to its END."""
        copies = []
        for agreed, place in self.find(ending):
            copy = self.tokens[place : place + limit]
            copies.append((agreed, copy[: copy.index(END)] if END in copy else copy))
        return copies

    def find(self, ending: Sequence[int]) -> list[tuple[int, int]]:
        """(agreement, place) for some of the latest places after `ending`.

        The longest keys come first, so those are found that agree in most tokens.
        """
        found: dict[int, int] = {}
        for chain in self._chains:
            for place in chain.latest(ending, self._forgotten):
                if len(found) == _RECENT:
                    break
                if place not in found:
                    found[place] = agreement(self.tokens, place, ending)
        return [(found[place], place) for place in sorted(found, reverse=True)]


class _Chain:
    """The places after the same `length` tokens, each linked to the one before it."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._dropped = 0  # places are kept as counted from the first token there ever was
        self._latest: dict[tuple[int, ...], int] = {}
        self._before = array("q")

    def extend(self, tokens: list[int], begun: int) -> None:
        for place in range(begun, len(tokens)):
            key = self._key(tokens, place)
            if key is None:
                self._before.append(-1)
            else:
                self._before.append(self._latest.get(key, -1))
                self._latest[key] = self._dropped + place

    def forget(self, tokens: list[int], first: int, last: int) -> None:
        for place in range(first, last):
            key = self._key(tokens, place)
            if key is not None and self._latest[key] == self._dropped + place:
                del self._latest[key]

    def drop(self, count: int) -> None:
        del self._before[:count]
        self._dropped += count

    def latest(self, ending: Sequence[int], first: int) -> Iterator[int]:
        """The latest places, from `first` on, after the last tokens of `ending`."""
        place = self._latest.get(tuple(ending[-self._length :]), -1) - self._dropped
        for _ in range(_RECENT):
            if place < first:
                return
            yield place
            place = self._before[place] - self._dropped

    def _key(self, tokens: list[int], place: int) -> tuple[int, ...] | None:
        """The tokens before a place; None where another text begins or this one ends."""
        if place < self._length or tokens[place] == END:
            return None
        key = tuple(tokens[place - self._length : place])
        return None if END in key else key
