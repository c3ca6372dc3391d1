"""Prompt lookup: the text itself as the draft (Saxena 2023; algorithms of that family)."""

from weakref import WeakKeyDictionary

from foredraft.core.errors import ForedraftError
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft
from foredraft.drafters.places import agreement

SHORTEST, LONGEST = 2, 5
"""Tokens of the ending that is looked up, unless said otherwise."""


class NgramIndex:
    """Where each n-gram of a growing text was last seen."""

    def __init__(self, shortest: int, longest: int) -> None:
        self._lengths = range(longest, shortest - 1, -1)
        self._after: dict[tuple[int, ...], int] = {}
        self._indexed = 0

    def extend(self, tokens: list[int]) -> None:
        """Index the n-grams of `tokens` that have a continuation, those seen before excepted."""
        for end in range(self._indexed, len(tokens) - 1):
            for length in self._lengths:
                if length <= end + 1:
                    self._after[tuple(tokens[end + 1 - length : end + 1])] = end + 1
        self._indexed = max(self._indexed, len(tokens) - 1)

    def continuation(self, tokens: list[int]) -> int | None:
        """Where the text went on after the latest occurrence of its longest known ending."""
        for length in self._lengths:
            found = self._after.get(tuple(tokens[-length:]))
            if found is not None:
                return found
        return None


class NgramDrafter:
    """Copies what followed the most recent occurrence of the longest matching ending.

    `shortest` and `longest` bound the ending's length in tokens. Deterministic, so q is one-hot.
    The evidence of a token is how many tokens before it agree, the drafted ones included, counted
    beyond `longest` as well: a long copy goes on.
    """

    name = "ngram"
    free = True
    expected: tuple[tuple[float, float], ...] = (
        (1, 0.2),
        (2, 0.5),
        (3, 0.57),
        (4, 0.77),
        (6, 0.81),
        (10, 0.87),
        (16, 0.9),
        (24, 0.95),
        (32, 0.99),
    )

    def __init__(self, shortest: int = SHORTEST, longest: int = LONGEST) -> None:
        if not 1 <= shortest <= longest:
            raise ForedraftError(
                f"The n-gram lengths are {shortest} to {longest}; "
                "the shortest must be at least 1 and at most the longest."
            )
        self._lengths = (shortest, longest)
        self._indexes: WeakKeyDictionary[TextSequence, NgramIndex] = WeakKeyDictionary()

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        index = self._indexes.get(sequence)
        if index is None:
            index = self._indexes[sequence] = NgramIndex(*self._lengths)
        tokens = sequence.tokens
        index.extend(tokens)
        start = index.continuation(tokens)
        if start is None:
            return Draft.chain([], source=self.name)
        # A match that runs into the end of the text goes on with its own copy: a repeated pattern.
        period = len(tokens) - start
        copied = [tokens[start + i % period] for i in range(limit)]
        agreed = agreement(tokens, start, tokens)
        return Draft.chain(copied, None, self.name, range(agreed, agreed + limit))

    def close(self, sequence: TextSequence) -> None:
        self._indexes.pop(sequence, None)
