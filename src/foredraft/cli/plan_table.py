"""A plan on a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from foredraft.planner.plan import Plan, Verdict
from foredraft.planner.what_if import WhatIf
from foredraft.planner.what_if_wording import (
    ASSUMED,
    along,
    draft_models_table,
    loads_table,
    stops_paying,
    supposed,
    temperatures_table,
)
from foredraft.planner.wording import COLUMNS, cells, ms, shortlist

COLOURS = {Verdict.USE: "green", Verdict.DO_NOT: "red", Verdict.MEASURE_LONGER: "yellow"}


def show(plan: Plan) -> None:
    """The verdict, the best settings of each drafter, and what they rest on."""
    console = Console(highlight=False, markup=False)
    colour = COLOURS[plan.verdict]
    console.print(plan.verdict.replace("_", " ").capitalize(), style=f"bold {colour}")
    console.print(plan.why)
    table = Table(COLUMNS[0], box=None, pad_edge=False)
    for name in COLUMNS[1:]:
        table.add_column(name, justify="right")
    for row in shortlist(plan):
        table.add_row(*cells(row), style="bold" if row == plan.best else None)
    console.print()
    console.print(table)
    curve = zip(plan.verify_curve.rows, plan.verify_curve.ratio, strict=True)
    prices = ", ".join(f"{price:.2f} over {rows}" for rows, price in curve if rows > 1)
    console.print(
        f"\nA plain token takes {ms(plan.plain_step_s)} ms. Against a target pass over one row, "
        f"passes cost {prices}."
    )
    if len(plan.kinds) > 1:
        found = ", ".join(f"{n} {k.predicted_speedup:.2f}x" for n, k in plan.kinds.items())
        console.print(f"By kind of prompt: {found}.")
    console.print(f"Engine {plan.engine}, temperature {plan.temperature:g}, {plan.machine}.")
    for note in plan.notes:
        console.print(note)


def show_what_if(plan: Plan, found: WhatIf) -> None:
    """The tables of `--what-if`."""
    console = Console(highlight=False, markup=False)
    console.print("\nWhat if more sequences are decoded together?", style="bold")
    console.print(stops_paying(found))
    if found.concurrency:
        console.print(_table(*loads_table(plan, found)))
        console.print(ASSUMED)
    if plan.temperatures:
        console.print("\nWhat if the temperature were another?", style="bold")
        console.print(_table(*temperatures_table(plan)))
        console.print(along(plan))
    console.print(f"\n{supposed(plan)}", style="bold")
    console.print(_table(*draft_models_table(plan, found)))


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*row)
    return table
