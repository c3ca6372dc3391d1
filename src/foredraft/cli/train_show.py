"""A new draft on a terminal."""

from rich.console import Console
from rich.table import Table

from foredraft.cli.plan_table import COLOURS
from foredraft.planner.plan import Choice, Verdict
from foredraft.training.train import Made


def show(made: Made) -> None:
    """What it learnt, how often it is right at each position, whether it pays and how to use it."""
    console = Console(highlight=False, markup=False)
    lesson = made.lesson
    console.print(
        f"{made.folder}: {lesson.plan.kind}, {lesson.parameters / 1e6:.1f} million parameters, "
        f"learnt from {lesson.answer_tokens:,} tokens of answers."
    )
    table = Table("α on held-out prompts", box=None, pad_edge=False)
    for position in range(1, len(lesson.alpha.greedy) + 1):
        table.add_column(f"{position}", justify="right")
    for name, rates in (
        ("temperature 0", lesson.alpha.greedy),
        ("temperature 1", lesson.alpha.sampled),
    ):
        table.add_row(name, *(f"{rate:.2f}" for rate in rates))
    console.print(table)
    best, plan = made.choice, made.plan
    console.print(_opinion(best, made.verdict), style=f"bold {COLOURS[made.verdict]}")
    lookups = [row for row in plan.rows if row.draft is None]
    if lookups:
        console.print(
            f"Without it the best is the {lookups[0].drafter} lookup: "
            f"{lookups[0].predicted_speedup:.2f}x."
        )
    if len(plan.kinds) > 1 and plan.best == best:
        found = ", ".join(f"{n} {k.predicted_speedup:.2f}x" for n, k in plan.kinds.items())
        console.print(f"By kind of prompt: {found}.")
    for note in plan.notes:
        console.print(note)
    console.print(
        f"\nforedraft run --model {plan.target} --engine torch --draft-model {made.folder}"
    )


def _opinion(best: Choice, verdict: Verdict) -> str:
    expected = f"{best.predicted_speedup:.2f}x ({best.low:.2f}x to {best.high:.2f}x)"
    said = (
        f"{expected} over plain decoding with γ = {best.draft_len}, "
        f"α {best.acceptance_rate:.2f} and c {best.cost_ratio:.2f}"
    )
    match verdict:
        case Verdict.USE:
            return f"It pays: {said}."
        case Verdict.DO_NOT:
            return f"It does not pay here: {said}; learn from more --tokens."
        case _:
            return f"It may pay: {said}; measure it longer with `foredraft plan`."
