"""Suffix drafting: what followed the text's ending where it occurred before, by a vote.

After SuffixDecoding (2411.04975): over this request's own text and over earlier outputs.
"""

import heapq
from collections.abc import Iterable, Sequence
from itertools import count
from weakref import WeakKeyDictionary

from foredraft.core.errors import ForedraftError
from foredraft.core.sequence import TextSequence
from foredraft.core.types import ROOT, Draft
from foredraft.drafters.places import Copy, Places
from foredraft.drafters.store import SuffixStore

Occurrence = tuple[int, float, Sequence[int]]
"""(how many tokens agree with the text's ending, the weight of its vote, what followed it)."""

_LONGER = 1.5
_OLDER = 0.9
_DOUBT = 0.7


class SuffixDrafter:
    """Drafts the likeliest continuations of the text's ending, as a chain or as a tree.

    Each occurrence votes for the token that followed it, weighing more the longer it agrees and
    the later it is. A token's evidence is its share of the votes, less a doubt that fades as the
    agreement grows, drafted tokens included: about its chance of acceptance. Drafted is what is
    reached with a chance of `least`. Deterministic: q is one-hot.
    """

    name = "suffix"
    free = True
    expected: tuple[tuple[float, float], ...] = (
        (0, 0.06),
        (0.05, 0.12),
        (0.1, 0.18),
        (0.2, 0.32),
        (0.4, 0.45),
        (0.5, 0.6),
        (0.7, 0.68),
        (0.8, 0.84),
        (0.9, 0.92),
        (0.95, 0.95),
        (0.97, 0.99),
    )

    def __init__(
        self, store: SuffixStore | None = None, *, branching: bool = False, least: float = 0.1
    ) -> None:
        if not 0 <= least <= 1:
            raise ForedraftError(f"least is {least}; a probability lies between 0 (off) and 1.")
        self._store = store
        self._branching = branching
        self._least = least
        self._own: WeakKeyDictionary[TextSequence, Places] = WeakKeyDictionary()

    def with_store(self, store: SuffixStore | None) -> "SuffixDrafter":
        """The same way of drafting, from other answers."""
        return SuffixDrafter(store, branching=self._branching, least=self._least)

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        own = self._own.setdefault(sequence, Places())
        own.extend(sequence.tokens[len(own) :])
        found = _votes(own.continuations(limit))
        if self._store is not None:
            found += _votes(self._store.after(own.tokens, limit))
        return self._grow(found, limit)

    def _grow(self, found: list[Occurrence], limit: int) -> Draft:
        """The `limit` likeliest nodes of what followed, parents before their children."""
        tokens: list[int] = []
        parents: list[int] = []
        evidence: list[float] = []
        order = count()
        frontier = self._followers(found, 0, ROOT, 1.0, order)
        while frontier and len(tokens) < limit:
            reached, _, chance, token, parent, depth, agreeing = heapq.heappop(frontier)
            tokens.append(token)
            parents.append(parent)
            evidence.append(chance)
            node = len(tokens) - 1
            for entry in self._followers(agreeing, depth + 1, node, -reached, order):
                heapq.heappush(frontier, entry)
        return Draft(tuple(tokens), tuple(parents), None, self.name, tuple(evidence))

    def _followers(
        self, found: list[Occurrence], depth: int, parent: int, reached: float, order: "count[int]"
    ) -> "list[_Entry]":
        """What comes `depth` tokens after occurrences that agree so far: all, or the best one."""
        votes: dict[int, float] = {}
        agreeing: dict[int, list[Occurrence]] = {}
        for occurrence in found:
            _, vote, after = occurrence
            if depth < len(after):
                votes[after[depth]] = votes.get(after[depth], 0.0) + vote
                agreeing.setdefault(after[depth], []).append(occurrence)
        total = sum(votes.values())
        entries: list[_Entry] = []
        for token, share in votes.items():
            longest = max(agreed for agreed, *_ in agreeing[token]) + depth
            chance = share / total * (1 - _DOUBT / longest)
            if reached * chance >= self._least:
                entry = (-reached * chance, next(order), chance, token, parent, depth)
                entries.append((*entry, agreeing[token]))
        return sorted(entries) if self._branching else sorted(entries)[:1]

    def close(self, sequence: TextSequence) -> None:
        if self._own.pop(sequence, None) is not None and self._store is not None:
            self._store.add(sequence.output)


def _votes(copies: Iterable[Copy]) -> list[Occurrence]:
    return [
        (agreed, _LONGER**agreed * _OLDER**age, after) for age, (agreed, after) in enumerate(copies)
    ]


_Entry = tuple[float, int, float, int, int, int, list[Occurrence]]
"""(−chance of reaching it, order of arrival, chance, token, parent, depth, who agrees)."""
