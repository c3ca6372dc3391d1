"""What a sequence of a GGUF target adds to a pass of llama.cpp: a chain, a tree, or fixed rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from foredraft.core.errors import ForedraftError
from foredraft.core.types import ROOT, LogitArray
from foredraft.targets.llama import PAGE, Context


class GGUFSequence:
    """A sequence's place in a context and the tokens it holds there.

    `rows` is the fixed number of rows a `bitwise` pass runs, 0 where it may vary. Between `score`
    and `commit`, `scored` are the rows' tokens and `homes`, for a tree, a sequence that holds
    each row's path. `saved` is (length, state) from before the pass, for recurrent models.
    """

    def __init__(self, context: Context, rows: int) -> None:
        self.context, self.rows = context, rows
        self.ids = context.take(self)  # its own first, then the branches of a tree
        self.tokens: list[int] = []
        self.scored: list[int] = []
        self.homes: list[int] = []
        self.saved: tuple[int, npt.NDArray[np.uint8]] | None = None


@dataclass(frozen=True, slots=True)
class Pass:
    """What one sequence adds to a pass: rows, of which the answers are `count` from `first` on."""

    tokens: list[int]
    positions: list[int]
    owners: list[list[int]]
    first: int
    count: int


def chain(own: GGUFSequence) -> Pass:
    """Each row after the one before."""
    start, count = len(own.tokens), len(own.scored)
    return Pass(own.scored, list(range(start, start + count)), [own.ids] * count, 0, count)


def fixed(own: GGUFSequence) -> Pass:
    """Exactly `own.rows` rows within one page: padded behind, and at its end in front."""
    length, count = len(own.tokens), len(own.scored)
    start = min(length, (length // PAGE + 1) * PAGE - own.rows)
    if start < length and not own.context.cut(own.ids[0], start):
        raise ForedraftError(
            f"{own.context.name} cannot take rows back, which exactness 'bitwise' needs here; use "
            "'coupled'."
        )
    tokens = [*own.tokens[start:], *own.scored]
    tokens += tokens[-1:] * (own.rows - len(tokens))
    positions = list(range(start, start + own.rows))
    return Pass(tokens, positions, [own.ids] * own.rows, length - start, count)


def tree(own: GGUFSequence, parents: Sequence[int]) -> Pass:
    """A row belongs to one sequence for every leaf below it."""
    count = len(own.scored)
    depths: list[int] = []
    for parent in parents:
        depths.append(0 if parent == ROOT else depths[parent] + 1)
    owners: list[list[int]] = [[] for _ in range(count)]
    inner = set(parents)
    for leaf in (row for row in range(count) if row not in inner):
        if any(owners):
            branch = own.context.take()[0]
            own.ids.append(branch)
            own.context.copy(own.ids[0], branch)
        row = leaf
        while row != ROOT:
            owners[row].append(own.ids[-1])
            row = parents[row]
    own.homes = [ids[0] for ids in owners]
    start = len(own.tokens)
    return Pass(own.scored, [start + depth for depth in depths], owners, 0, count)


def run(context: Context, passes: Sequence[Pass]) -> list[LogitArray]:
    """One pass of several sequences; each one's logits [its rows, V]."""
    logits = context.run(
        [token for one in passes for token in one.tokens],
        [position for one in passes for position in one.positions],
        [ids for one in passes for ids in one.owners],
        logits=True,
    )
    assert logits is not None
    answers, begin = [], 0
    for one in passes:
        answers.append(logits[begin + one.first : begin + one.first + one.count])
        begin += len(one.tokens)
    return answers
