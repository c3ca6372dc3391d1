"""What a plan's numbers say of other circumstances: many sequences at once, another draft model."""

from collections.abc import Sequence
from dataclasses import dataclass

from foredraft.core.speedup import best_gamma
from foredraft.core.types import FloatArray
from foredraft.planner.batch import prices, round_price
from foredraft.planner.plan import Choice, Plan

SEQUENCES = (1, 2, 4, 8, 16)
RATES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
COSTS = (0.4, 0.2, 0.1, 0.0)
"""Cost ratios to look at where no draft model was measured."""
MOST = 64


@dataclass(frozen=True, slots=True)
class Load:
    """`sequences` decoded together, over plain decoding of as many.

    `speedup` is the plan's best choice's, `best_speedup` that of its drafter's best length
    `best_draft_len`: 0 and 1.0 where none is faster than plain. `extrapolated`: passes have more
    rows than were priced.
    """

    sequences: int
    speedup: float
    best_draft_len: int
    best_speedup: float
    extrapolated: bool


@dataclass(frozen=True, slots=True)
class Supposed:
    """A draft model of acceptance rate α and cost ratio c: its best γ here (0: none) and gain."""

    acceptance_rate: float
    cost_ratio: float
    draft_len: int
    speedup: float


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Loads of more sequences; the load from which on speculation is no faster than plain decoding
    (None: not within 64 sequences); and draft models as they might be."""

    concurrency: tuple[Load, ...]
    stops_paying: Load | None
    draft_models: tuple[Supposed, ...]


def what_if(plan: Plan) -> WhatIf:
    """The tables of a plan; no loads where it found nothing to speculate with."""
    best = plan.best
    if best is None:
        return WhatIf((), None, _draft_models(plan))
    rows = [row for row in plan.rows if _drafter(row) == _drafter(best) and row.acceptance_rate]
    v = prices(plan.verify_curve, MOST * (1 + max(row.draft_len for row in rows)))
    priced = plan.verify_curve.rows[-1]
    loads = [_load(n, best, rows, v, priced) for n in range(1, MOST + 1)]
    last = max((load.sequences for load in loads if load.best_draft_len), default=0)
    return WhatIf(
        tuple(loads[n - 1] for n in SEQUENCES),
        loads[last] if last < MOST else None,
        _draft_models(plan),
    )


def draft_model(plan: Plan) -> Choice | None:
    """The fastest choice that asks a draft model, if one was measured."""
    return next((row for row in plan.rows if row.draft is not None), None)


def _load(sequences: int, best: Choice, rows: Sequence[Choice], v: FloatArray, priced: int) -> Load:
    gains = {row.draft_len: _speedup(row, sequences, v) for row in rows}
    top = max(gains, key=lambda length: (gains[length], -length))
    if gains[top] <= 1:
        top = 0
    return Load(
        sequences=sequences,
        speedup=gains[best.draft_len],
        best_draft_len=top,
        best_speedup=gains.get(top, 1.0),
        extrapolated=sequences * (1 + max(top, best.draft_len)) > priced,
    )


def _speedup(row: Choice, sequences: int, v: FloatArray) -> float:
    """What was predicted for one sequence, times how much dearer a round becomes in company.

    How many tokens a round yields does not change with the load, and so need not be known.
    """
    alone, among = (round_price(row, n, v) for n in (1, sequences))
    return row.predicted_speedup * alone / among


def _draft_models(plan: Plan) -> tuple[Supposed, ...]:
    """Draft models as they might be, the measured one among them, by the formula for a constant α.

    No longer drafts than passes were priced for.
    """
    priced = plan.verify_curve.rows[-1]
    curve = prices(plan.verify_curve, priced).tolist()
    measured = draft_model(plan)
    rates = set(RATES)
    costs: Sequence[float] = COSTS
    if measured is not None:
        rates.add(measured.acceptance_rate)
        costs = list(dict.fromkeys(measured.cost_ratio * part for part in (1, 0.5, 0.25, 0)))
    return tuple(
        Supposed(rate, cost, *best_gamma(rate, cost, curve, limit=priced - 1))
        for rate in sorted(rates)
        for cost in costs
    )


def _drafter(row: Choice) -> tuple[str, str | None]:
    return row.drafter, row.draft
