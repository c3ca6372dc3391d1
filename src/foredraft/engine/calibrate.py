"""Measuring what a target's passes and its drafters' tokens cost on this machine."""

import hashlib
import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.shape import Shape
from foredraft.core.tree import depth
from foredraft.core.types import ROOT
from foredraft.drafters.base import CostlyDrafter, Drafter, is_costly
from foredraft.engine.prices import Prices
from foredraft.targets.base import CachedSequence, Progress, Rows, Target

ROWS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32)
_PREFIX = 64
_REPEATS = 5
_PATIENCE_S = 15.0
"""A slow model is measured fewer times rather than for longer."""
_USUAL = 8
"""Row counts up to this are the ones that rounds have: they are measured again first."""
_DRAFTED = 4
_WIDTH = 3
"""Levels of a draft that is timed, and nodes a level where it may be a tree."""
_SEQUENCES = (2, 4, 8, 16, 32)
_TOGETHER = 3
_SHORT = 16


def timed(target: Target, batch: Sequence[Rows]) -> float:
    """Seconds of a pass whose rows are taken back: the caches are left as they were."""
    begun = time.perf_counter()
    target.score(batch)
    spent = time.perf_counter() - begun
    for rows in batch:
        target.commit(rows.sequence, [])
    return spent


def prices_of(
    target: Target,
    drafters: Sequence[Drafter],
    bitwise: bool,
    folder: Path | None,
    progress: Progress | None = None,
) -> Prices:
    """The prices kept in `folder` for exactly this target, machine and drafters, or new ones."""
    costly = [drafter for drafter in drafters if is_costly(drafter)]
    path = None
    if folder is not None:
        subject: list[object] = [target.signature, bitwise, platform.machine(), os.cpu_count()]
        subject += [[drafter.name, drafter.signature] for drafter in costly]
        path = folder / f"{hashlib.sha256(json.dumps(subject).encode()).hexdigest()[:16]}.json"
        try:
            return Prices.from_dict(json.loads(path.read_text()), path)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # none yet, or not readable: measured again and written anew
    report = progress or (lambda what, done, total: None)
    verify = _verify_seconds(target, bitwise, report)
    tokens = {drafter.name: _draft_seconds(target, drafter) for drafter in costly}
    drafts = {name: draft for name, (draft, _) in tokens.items()}
    prices = Prices(verify, drafts, path, {name: read for name, (_, read) in tokens.items()})
    prices.keep(always=True)
    return prices


def measure_together(
    target: Target, prices: Prices, most: int, progress: Progress | None = None
) -> None:
    """Add to the prices what passes over one row of each of several sequences cost.

    Told as a factor to as many rows of one sequence, measured in turns.
    """
    report = progress or (lambda what, done, total: None)
    counts = [count for count in _SEQUENCES if count < most] + [most] if most > 1 else []
    prefix = _prefix(target)[:_SHORT]
    alone = target.open()
    target.prefill(alone, prefix)
    several = [alone] + [target.fork(alone, len(prefix)) for _ in range(most - 1)]
    factors: dict[int, float] = {}
    for done, count in enumerate(counts):
        report(f"Measuring {count} texts together", done, len(counts))
        ratios = []
        for _ in range(_TOGETHER):
            one = timed(target, [_again(alone, prefix, count)])
            for sequence in several[:count]:
                target.prefill(sequence, prefix)
            many = timed(target, [Rows(sequence, prefix[:1]) for sequence in several[:count]])
            ratios.append(many / one)
        factors[count] = median(ratios)
    report("Measuring texts together", len(counts), max(1, len(counts)))
    prices.measured_together(factors)
    prices.keep(always=True)
    for sequence in several:
        target.rewind(sequence, [])


def _prefix(target: Target) -> list[int]:
    length = max(1, min(_PREFIX, target.context // 2))
    return [(7919 * i) % target.vocab_size for i in range(length)]


def _again(sequence: CachedSequence, prefix: Sequence[int], rows: int) -> Rows:
    """Rows after a prefix that repeat it."""
    return Rows(sequence, [prefix[i % len(prefix)] for i in range(rows)])


def _verify_seconds(target: Target, bitwise: bool, report: Progress) -> dict[int, float]:
    """Seconds of a pass by row count: a median of ratios to the one-row passes before and after,
    times the median of those, since a machine that others use too is now faster, now slower."""
    prefix = _prefix(target)
    sequence = target.open(bitwise=bitwise)
    target.prefill(sequence, prefix)
    counts = [rows for rows in ROWS if 1 < rows <= target.room(sequence)]

    def seconds(rows: int) -> float:
        target.prefill(sequence, prefix)  # a recurrent one has lost it with the refused rows
        return timed(target, [_again(sequence, prefix, rows)])

    seconds(1)  # only warms up
    singles, ratios = [seconds(1)], {rows: list[float]() for rows in counts}
    usual = [rows for rows in counts if rows <= _USUAL]
    rare = [rows for rows in counts if rows > _USUAL]
    work = counts + (_REPEATS - 1) * usual + (_REPEATS - 1) * rare
    begun, total = time.perf_counter(), len(work)
    for done, rows in enumerate(work):
        report(f"Measuring {target.name}", done, total)
        if time.perf_counter() - begun > _PATIENCE_S and all(ratios.values()):
            break
        spent = seconds(rows)
        singles.append(seconds(1))
        ratios[rows].append(2 * spent / (singles[-2] + singles[-1]))
    report(f"Measuring {target.name}", total, total)
    single = median(singles)
    return {1: single} | {rows: single * median(found) for rows, found in ratios.items()}


def _draft_seconds(target: Target, drafter: CostlyDrafter) -> tuple[float, float]:
    """Seconds a drafting pass, and a token of the text that is read before the first."""
    usual = _text(target, _prefix(target))
    drafter.propose(usual, 1)
    drafter.close(usual)  # the very first passes only warm up
    unread = _text(target, usual.tokens[::-1])
    shape = None
    if drafter.branches and target.capabilities.trees:  # it will draft trees, whose passes are wide
        below = [max(ROOT, node - _WIDTH) for node in range(_DRAFTED * _WIDTH)]
        shape = Shape(tuple(below), _DRAFTED, 0.0)
    limit = _DRAFTED if shape is None else len(shape.parents)
    spent = []
    for _ in range(1 + _REPEATS):
        begun = time.perf_counter()
        draft = drafter.propose(unread, limit, lambda shares: len(shares) < _DRAFTED, shape)
        spent.append(time.perf_counter() - begun)
    drafter.close(unread)
    drafting = median(spent[1:])
    reading = max(0.0, spent[0] - drafting)
    return drafting / max(1, drafter.passes(depth(draft))), reading / len(unread.tokens)


def _text(target: Target, tokens: Sequence[int]) -> TextSequence:
    """A text whose target has read all but its last token, as in a round."""
    sequence = TextSequence(tokens, SamplingParams(), Noise(0, True))
    sequence.cached = target.open()
    target.prefill(sequence.cached, sequence.tokens[:-1])
    return sequence
