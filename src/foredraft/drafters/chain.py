"""Drawing a chain of draft tokens, whatever network gives their logits."""

from collections.abc import Generator

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft, FloatArray, LogitArray
from foredraft.drafters.base import GoOn

EXPECTED = ((0, 0.25), (0.3, 0.4), (0.5, 0.55), (0.7, 0.7), (0.9, 0.85), (0.98, 0.95))
"""Chance of acceptance by the probability a network gives its token: see Drafter.expected."""


def drawing(
    sequence: TextSequence, limit: int, go_on: GoOn, greedy: bool, source: str
) -> Generator[int | None, LogitArray, Draft]:
    """A chain of at most `limit` tokens: yields each once it is drawn (first None), and is sent the
    logits [V] of the next.

    `greedy` takes the likeliest tokens, reported as one-hot; else they are drawn from q, the law of
    those logits under the request's own settings, and q is reported as drawn. The evidence of a
    token is its probability at temperature 1, with no filter or penalty, which means the same in
    every request.
    """
    drafted: list[int] = []
    laws: list[FloatArray] = []
    evidence: list[float] = []
    logits = yield None
    while True:
        try:
            q = sequence.law(logits, drafted)
        except ForedraftError:  # all that a grammar allows here are rows the draft lacks
            break
        position = len(sequence.tokens) + len(drafted)
        token = int(q.argmax()) if greedy else sequence.noise.draw_draft(position, q)
        drafted.append(token)
        laws.append(q)
        evidence.append(probability(logits, token))
        # The unsure token stays: whether a token exists must not depend on that token.
        if len(drafted) == limit or not go_on(evidence):
            break
        logits = yield token
    one_hot = greedy or sequence.params.is_greedy
    return Draft.chain(drafted, None if one_hot else laws, source, evidence)


def probability(logits: LogitArray, token: int) -> float:
    """Of a token at temperature 1."""
    weights = np.exp(logits - logits.max())
    return float(weights[token] / weights.sum())
