"""From measured prices and counted passes to a speed-up with an interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from foredraft.core.types import FloatArray, IntArray
from foredraft.engine.replay import Pass
from foredraft.planner.answers import Answer

_DRAWS = 400
_INTERVAL = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds that drafting adds to one answer: once, for each drafted token, and for each round
    after one that was kept whole."""

    open_s: float = 0.0
    token_s: float = 0.0
    reread_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Written:
    """One answer written with one drafter and draft length: its passes and what drafting costs."""

    answer: Answer
    passes: Sequence[Pass]
    costs: Costs


class Curve:
    """v(n) from observed ratios, and what it might as well have been: bootstrap draws [D, rows].

    Between measured row counts it is interpolated, beyond the last it is taken to be proportional.
    """

    def __init__(self, ratios: Mapping[int, Sequence[float]], most: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.measured = {1: 1.0} | {n: float(np.median(ratios[n])) for n in sorted(ratios)}
        rows = np.array(list(self.measured))
        drawn = [np.ones(_DRAWS)]
        for n in rows[1:]:
            seen = np.asarray(ratios[int(n)])
            drawn.append(np.median(rng.choice(seen, (_DRAWS, seen.size)), axis=1))
        self.points = _along(rows, np.array([list(self.measured.values())]), most)[0]
        self.draws = _along(rows, np.array(drawn).T, most)


def _along(rows: IntArray, values: FloatArray, most: int) -> FloatArray:
    """Values at `rows` [D, R] → at 1 … most [D, most]."""
    wanted = np.arange(1, most + 1)
    found = np.array([np.interp(wanted, rows, value) for value in values])
    return np.where(wanted > rows[-1], found * wanted / rows[-1], found)


def predict(written: Sequence[Written], curve: Curve) -> tuple[float, float, float]:
    """The geometric mean over answers of the speed over plain decoding, and its 95 % interval.

    The interval covers what prices may be off by and what other answers like these might have
    accepted (rounds drawn anew with replacement); not prompts of another kind.
    """
    rng = np.random.default_rng(0)
    points = [_speedups(one, curve.points[None], None)[0] for one in written]
    drawn = [_speedups(one, curve.draws, rng) for one in written]
    means = np.exp(np.mean(np.log(drawn), axis=0))
    low, high = np.percentile(means, _INTERVAL)
    return float(np.exp(np.mean(np.log(points)))), float(low), float(high)


def _speedups(one: Written, curve: FloatArray, rng: np.random.Generator | None) -> FloatArray:
    """Plain seconds over speculative seconds, for each v(n) drawn [D]."""
    answer, count = one.answer, len(one.passes)
    rows = np.array([done.rows for done in one.passes])
    drafted = rows - 1
    emitted = np.array([done.kept + 1 for done in one.passes])
    emitted[-1] = len(answer.output) - emitted[:-1].sum()
    whole = np.array([done.kept == done.drafted > 0 for done in one.passes], dtype=float)
    times = np.ones((len(curve), count))
    if rng is not None:
        times = rng.multinomial(count, np.full(count, 1 / count), size=len(curve)).astype(float)
    choose_s = answer.step_s - answer.pass_s
    fixed = emitted * choose_s + drafted * one.costs.token_s + whole * one.costs.reread_s
    seconds = ((curve[:, rows - 1] * answer.pass_s + fixed) * times).sum(axis=1)
    tokens = (emitted * times).sum(axis=1)
    # Reading the prompt is paid once an answer, however its rounds come out.
    seconds += one.costs.open_s * tokens / len(answer.output)
    return np.asarray(tokens * answer.step_s / seconds)


def acceptance(passes: Sequence[Pass]) -> tuple[int, int]:
    """(accepted, judged) tokens: a round judges what it keeps and the first token it refuses."""
    accepted = sum(done.kept for done in passes)
    return accepted, accepted + sum(done.kept < done.drafted for done in passes)


def by_position(passes: Sequence[Pass]) -> list[float]:
    """Conditional acceptance at each draft position: kept there / judged there."""
    most = max((done.drafted for done in passes), default=0)
    judged = [sum(done.kept >= i < done.drafted for done in passes) for i in range(most)]
    kept = [sum(done.kept > i for done in passes) for i in range(most)]
    return [k / j for k, j in zip(kept, judged, strict=True) if j]


def drafting_share(passes: Sequence[Pass]) -> float:
    """The share of rounds that draft anything."""
    return sum(done.drafted > 0 for done in passes) / len(passes)
