"""What-if tables in words, for a terminal and for a page."""

from itertools import groupby

from foredraft.planner.plan import Choice, Plan
from foredraft.planner.what_if import MOST, Load, Supposed, WhatIf, draft_model
from foredraft.planner.wording import label

ASSUMED = (
    "One pass verifies the drafts of all sequences; a draft model's batch is taken to cost as many "
    "times more as the target's; ~ marks passes over more rows than were measured."
)


def loads_table(plan: Plan, found: WhatIf) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and the cells of each number of sequences."""
    planned = f"γ {plan.best.draft_len}, as planned" if plan.best else "as planned"
    return ["sequences", planned, "best γ", "with it"], [_load(one) for one in found.concurrency]


def _load(load: Load) -> list[str]:
    unsure = " ~" if load.extrapolated else ""
    return [
        str(load.sequences),
        f"{load.speedup:.2f}x{unsure}",
        str(load.best_draft_len or "plain"),
        f"{load.best_speedup:.2f}x{unsure if load.best_draft_len else ''}",
    ]


def stops_paying(found: WhatIf) -> str:
    """From how many sequences on speculation is no faster, in a sentence."""
    stops = found.stops_paying
    if not found.concurrency:
        return "Nothing was drafted, so there is nothing to gain at any load."
    if stops is None:
        return f"Speculation stays faster than plain decoding up to {MOST} sequences at once."
    if stops.sequences == 1:
        return "Speculation is no faster than plain decoding even for one sequence."
    unsure = ", judging by passes over more rows than were measured" * stops.extrapolated
    return (
        f"From {stops.sequences} sequences decoded together on, speculation does not pay{unsure}."
    )


def temperatures_table(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, one a drafter, and the cells of each temperature."""
    drafters = [label(row) for row in plan.temperatures[0].rows]
    rows = []
    for one in plan.temperatures:
        planned = ", as planned" * (one.temperature == plan.temperature)
        by = {label(row): row for row in one.rows}
        rows.append([f"{one.temperature:g}{planned}", *(_warm(by[name]) for name in drafters)])
    return ["temperature", *drafters], rows


def _warm(row: Choice) -> str:
    if row.predicted_speedup <= 1:
        return f"plain, α {row.acceptance_rate:.2f}"
    return f"{row.predicted_speedup:.2f}x, γ {row.draft_len}, α {row.acceptance_rate:.2f}"


def along(plan: Plan) -> str:
    """What the table of temperatures rests on."""
    return (
        f"Counted along the answers written at temperature {plan.temperature:g}: whether target "
        "and draft would have drawn the same there at each temperature. Its own texts would "
        "differ; hotter ones repeat themselves less, which hurts lookups: plan again with "
        "--temperature before you rely on it."
    )


def supposed(plan: Plan) -> str:
    """What the table of draft models asks."""
    measured = draft_model(plan)
    if measured is None:
        return "What if there were a draft model?"
    return f"What if {measured.draft} agreed more often, or cost less?"


def draft_models_table(plan: Plan, found: WhatIf) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, one a cost ratio, and the cells of each acceptance rate."""
    measured = draft_model(plan)
    costs = dict.fromkeys(one.cost_ratio for one in found.draft_models)
    names = ["α", *(_cost(cost, measured) for cost in costs)]
    rows = [
        [_rate(rate, measured), *map(_supposed, models)]
        for rate, models in groupby(found.draft_models, key=lambda one: one.acceptance_rate)
    ]
    return names, rows


def _cost(cost: float, measured: Choice | None) -> str:
    known = measured is not None and cost == measured.cost_ratio
    return (f"c {cost:.2g}" if cost else "free drafts") + ", measured" * known


def _rate(rate: float, measured: Choice | None) -> str:
    known = measured is not None and rate == measured.acceptance_rate
    return f"{rate:.2f}" + ", measured" * known


def _supposed(one: Supposed) -> str:
    return f"{one.speedup:.2f}x, γ {one.draft_len}" if one.draft_len else "plain"
