"""A plan on a terminal."""

from itertools import groupby

from rich.console import Console
from rich.table import Table

from foredraft.planner.advice import at
from foredraft.planner.plan import Choice, Plan

_SHOWN = 3
"""Rows a drafter: its best draft lengths."""


def show(plan: Plan) -> None:
    """The verdict, the best settings of each drafter, and what they rest on."""
    console = Console(highlight=False)
    colour = {"use": "green", "do_not": "red", "measure_longer": "yellow"}[plan.verdict]
    console.print(plan.verdict.replace("_", " ").capitalize(), style=f"bold {colour}")
    console.print(plan.why)
    table = Table("drafter", box=None, pad_edge=False)
    for name in ("γ", "α", "c", "speed-up", "95 % interval", "ms a token", "measured"):
        table.add_column(name, justify="right")
    for row in _best(plan):
        table.add_row(*_cells(row), style="bold" if row == plan.best else None)
    console.print()
    console.print(table)
    prices = ", ".join(f"{at(plan.verify_curve, n):.2f} for {n}" for n in plan.verify_curve.rows)
    console.print(
        f"\nA plain token takes {_ms(plan.plain_step_s)} ms. A target pass costs, by rows and"
    )
    console.print(f"plain ones: {prices}.")
    if len(plan.kinds) > 1:
        found = ", ".join(f"{n} {k.predicted_speedup:.2f}x" for n, k in plan.kinds.items())
        console.print(f"By kind of prompt: {found}.")
    console.print(f"Engine {plan.engine}, temperature {plan.temperature:g}, {plan.machine}.")
    for note in plan.notes:
        console.print(note)


def _best(plan: Plan) -> list[Choice]:
    by = sorted(plan.rows, key=lambda row: (row.drafter, row.draft or ""))
    shown: list[Choice] = []
    for _, rows in groupby(by, key=lambda row: (row.drafter, row.draft)):
        shown += sorted(rows, key=lambda row: -row.predicted_speedup)[:_SHOWN]
    return sorted(shown, key=lambda row: -row.predicted_speedup)


def _cells(row: Choice) -> list[str]:
    measured = "" if row.measured_speedup is None else f"{row.measured_speedup:.2f}x"
    return [
        f"{row.drafter} {row.draft}" if row.draft else row.drafter,
        str(row.draft_len),
        f"{row.acceptance_rate:.2f}",
        f"{row.cost_ratio:.2f}",
        f"{row.predicted_speedup:.2f}x",
        f"{row.low:.2f} – {row.high:.2f}",
        _ms(row.token_s),
        measured,
    ]


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.{0 if seconds >= 0.1 else 1}f}"
