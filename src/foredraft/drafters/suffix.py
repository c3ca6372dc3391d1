"""Suffix drafting: what followed the longest known endings, weighted by how often it did.

After SuffixDecoding (2411.04975): over this request's own text and over earlier outputs.
"""

import heapq
import os
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from weakref import WeakKeyDictionary
from zipfile import BadZipFile

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.sequence import TextSequence
from foredraft.core.types import ROOT, Draft

_KEY = 2
_RECENT = 32

Match = tuple[int, Sequence[int], int]
"""(how many tokens match, the text, where its continuation starts)."""


class SuffixIndex:
    """Where each pair of tokens last occurred in a set of texts: endings are found from there.

    Looking up costs the same however long the texts are: at most the latest occurrences of one
    pair are compared, and no further back than `depth` tokens.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._places: dict[tuple[int, ...], deque[tuple[list[int], int]]] = {}

    def add(self, text: list[int], start: int) -> None:
        """Index what `text` gained since it was `start` tokens long."""
        for end in range(max(start, _KEY), len(text)):
            key = tuple(text[end - _KEY : end])
            self._places.setdefault(key, deque(maxlen=_RECENT)).append((text, end))

    def remove(self, text: list[int]) -> None:
        """Forget a text."""
        for end in range(_KEY, len(text)):
            key = tuple(text[end - _KEY : end])
            kept = deque((place for place in self._places[key] if place[0] is not text), _RECENT)
            self._places[key] = kept
            if not kept:
                del self._places[key]

    def matches(self, tokens: Sequence[int]) -> Iterator[Match]:
        """Every known place whose text up to it ends like `tokens`, and for how long."""
        for text, end in self._places.get(tuple(tokens[-_KEY:]), ()):
            longest = min(self._depth, end, len(tokens))
            length = next(
                (n for n in range(_KEY, longest) if text[end - 1 - n] != tokens[-1 - n]), longest
            )
            yield length, text, end


class SuffixStore:
    """Earlier outputs, shared by the requests that are given it; the oldest leave first.

    `capacity` is in tokens. Separate stores keep users apart: what one drafts from another's
    text shows in speed, never in the output.
    """

    def __init__(self, capacity: int = 1 << 18, depth: int = 32) -> None:
        if capacity < 0:
            raise ForedraftError(
                f"The suffix store's capacity is {capacity}; it must be 0 or more."
            )
        self.index = SuffixIndex(depth)
        self.texts: deque[list[int]] = deque()
        self._capacity = capacity
        self._size = 0

    def add(self, output: Sequence[int]) -> None:
        """Remember a finished output, making room for it; one above the capacity is cut."""
        text = list(output[: self._capacity])
        if not text:
            return
        self.texts.append(text)
        self.index.add(text, 0)
        self._size += len(text)
        while self._size > self._capacity:
            oldest = self.texts.popleft()
            self._size -= len(oldest)
            self.index.remove(oldest)

    def save(self, path: Path) -> None:
        """Write the outputs to `path` (NumPy's .npz), whole or not at all."""
        lengths = np.array([len(text) for text in self.texts], dtype=np.int64)
        tokens = np.array([token for text in self.texts for token in text], dtype=np.int64)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with open(temporary, "wb") as file:
                np.savez_compressed(file, lengths=lengths, tokens=tokens)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

    def load(self, path: Path) -> None:
        """Add the outputs saved in `path`; ForedraftError if it is no such file."""
        try:
            with np.load(path, allow_pickle=False) as saved:
                lengths, tokens = saved["lengths"].tolist(), saved["tokens"].tolist()
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise ForedraftError(
                f"{path} is not a saved suffix store ({type(error).__name__}); delete it to begin "
                "anew."
            ) from error
        start = 0
        for length in lengths:
            self.add(tokens[start : start + length])
            start += length


class SuffixDrafter:
    """Drafts the likeliest continuations of the text's ending, as a chain or as a tree.

    The longer the match, the more is drafted (`factor` tokens a matched token); a token is
    proposed while its estimated probability is at least `least`. Deterministic: q is one-hot.
    """

    name = "suffix"
    free = True
    expected: tuple[tuple[float, float], ...] = (
        (1, 0.35),
        (2, 0.5),
        (3, 0.6),
        (4, 0.7),
        (6, 0.8),
        (10, 0.88),
        (16, 0.93),
    )

    def __init__(
        self,
        store: SuffixStore | None = None,
        *,
        branching: bool = False,
        factor: float = 2.0,
        least: float = 0.1,
        depth: int = 32,
    ) -> None:
        self._store = SuffixStore(0) if store is None else store
        self._branching = branching
        self._factor = factor
        self._least = least
        self._depth = depth
        self._own: WeakKeyDictionary[TextSequence, tuple[SuffixIndex, list[int]]]
        self._own = WeakKeyDictionary()

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        if sequence not in self._own:
            self._own[sequence] = (SuffixIndex(self._depth), [])
        index, text = self._own[sequence]
        known = len(text)
        text += sequence.tokens[known:]
        index.add(text, known)
        found = [*index.matches(text), *self._store.index.matches(text)]
        best, best_score = Draft.chain([], source=self.name), 0.0
        for length in sorted({length for length, _, _ in found}):
            budget = min(limit, int(self._factor * length))
            draft, score = self._grow([place for place in found if place[0] >= length], budget)
            if score >= best_score:  # of equals the longer match
                best, best_score = draft, score
        return best

    def _grow(self, places: list[Match], budget: int) -> tuple[Draft, float]:
        """The `budget` likeliest nodes of the continuations, best first, and their summed odds."""
        tokens: list[int] = []
        parents: list[int] = []
        score, order = 0.0, count()
        starts = [(text, end) for _, text, end in places]
        frontier = self._continuations(1.0, starts, ROOT, order)
        while frontier and len(tokens) < budget:
            odds, _, token, parent, after = heapq.heappop(frontier)
            tokens.append(token)
            parents.append(parent)
            score -= odds
            node = len(tokens) - 1
            if not self._branching:
                frontier = []
            for entry in self._continuations(-odds, after, node, order):
                heapq.heappush(frontier, entry)
        return Draft(tuple(tokens), tuple(parents), None, self.name), score

    def _continuations(
        self, odds: float, places: list[tuple[Sequence[int], int]], parent: int, order: "count[int]"
    ) -> "list[_Entry]":
        """What follows `places`, likeliest first: one entry for a chain, all for a tree."""
        tally = Counter(text[at] for text, at in places if at < len(text))
        total = sum(tally.values())
        entries = [
            (
                -odds * times / total,
                next(order),
                token,
                parent,
                [(text, at + 1) for text, at in places if at < len(text) and text[at] == token],
            )
            for token, times in tally.most_common(None if self._branching else 1)
            if odds * times / total >= self._least
        ]
        heapq.heapify(entries)
        return entries

    def close(self, sequence: TextSequence) -> None:
        if self._own.pop(sequence, None) is not None:
            self._store.add(sequence.output)


_Entry = tuple[float, int, int, int, list[tuple[Sequence[int], int]]]
"""(−odds, order of arrival, token, parent, where its own continuations start)."""
