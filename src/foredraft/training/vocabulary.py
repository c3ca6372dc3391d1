"""Which tokens a head drafts: the most frequent ones of what it learns from."""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import islice

import numpy as np

from foredraft.core.types import IntArray


def draft_vocabulary(
    texts: Iterable[tuple[list[int], int]], size: int, vocab_size: int, always: Collection[int]
) -> tuple[IntArray, float]:
    """The `size` most frequent tokens of answers in ascending order, and the share of the answers'
    tokens that are among them.

    `texts` are (tokens, where the answer begins). `always` are in at any rate: those that end an
    answer, which a draft must be able to propose. Where answers have fewer tokens than `size`,
    the lowest ids fill up: in most vocabularies these are the commonest.
    """
    counts: Counter[int] = Counter()
    for tokens, start in texts:
        counts.update(tokens[start:])
    ranked = sorted(counts, key=lambda token: (-counts[token], token))
    ids = dict.fromkeys(token for token in (*sorted(always), *ranked) if token < vocab_size)
    chosen = dict.fromkeys(islice(ids, size))
    rest = (token for token in range(vocab_size) if token not in chosen)
    chosen |= dict.fromkeys(islice(rest, size - len(chosen)))
    covered = sum(counts[token] for token in chosen) / max(1, counts.total())
    return np.array(sorted(chosen), dtype=np.int64), covered
