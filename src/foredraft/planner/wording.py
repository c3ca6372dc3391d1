"""How a plan is put into words and order, wherever it is shown."""

from itertools import groupby

from foredraft.planner.advice import named
from foredraft.planner.plan import Choice, Plan, Verdict

_SHOWN = 3
HEADLINES = {
    Verdict.USE: "Use speculation",
    Verdict.DO_NOT: "Do not speculate",
    Verdict.MEASURE_LONGER: "Measure longer",
}
COLUMNS = ("drafter", "γ", "α", "c", "speed-up", "95 % interval", "ms a token", "measured")


def shortlist(plan: Plan) -> list[Choice]:
    """The best draft lengths of each drafter, fastest first."""
    by = sorted(plan.rows, key=lambda row: (row.drafter, row.draft or ""))
    shown: list[Choice] = []
    for _, rows in groupby(by, key=lambda row: (row.drafter, row.draft)):
        shown += sorted(rows, key=lambda row: -row.predicted_speedup)[:_SHOWN]
    return sorted(shown, key=lambda row: -row.predicted_speedup)


def label(choice: Choice) -> str:
    """A choice's drafter, with the model that it asks."""
    return f"{choice.drafter} {choice.draft}" if choice.draft else choice.drafter


def cells(choice: Choice) -> list[str]:
    """A choice under COLUMNS."""
    measured = choice.measured_speedup
    return [
        label(choice),
        str(choice.draft_len),
        f"{choice.acceptance_rate:.2f}",
        f"{choice.cost_ratio:.2f}",
        f"{choice.predicted_speedup:.2f}x",
        f"{choice.low:.2f} – {choice.high:.2f}",
        ms(choice.token_s),
        "" if measured is None else f"{measured:.2f}x",
    ]


def ms(seconds: float) -> str:
    """Seconds as milliseconds, to what can be told apart."""
    return f"{1000 * seconds:.{0 if seconds >= 0.1 else 1}f}"


def reach(choice: Choice) -> float:
    """The largest speed-up that a chart of a choice has to show."""
    return max(choice.high, choice.measured_speedup or 0.0)


def expected(choice: Choice) -> str:
    """What follows a choice's speed-up where it stands in large type."""
    return (
        f"of plain speed expected with {named(choice)}, γ {choice.draft_len}; 95 % interval "
        f"{choice.low:.2f}x to {choice.high:.2f}x"
    )


def versus(choice: Choice) -> str:
    """A choice's prediction beside what was measured; empty until it ran."""
    if choice.measured_speedup is None:
        return ""
    off = choice.predicted_speedup / choice.measured_speedup - 1
    return (
        f"Predicted {choice.predicted_speedup:.2f}x, measured {choice.measured_speedup:.2f}x: the "
        f"prediction was {abs(off):.1%} too {'high' if off > 0 else 'low'}."
    )


def method(plan: Plan) -> str:
    """How a plan was found, in three sentences."""
    count = sum(kind.prompts for kind in plan.kinds.values())
    prompts = f"{count} prompt{'s' * (count > 1)}" if count else "the prompts"
    return (
        f"The target answered {prompts} plainly on this machine, and passes over more rows were "
        "timed between its tokens. What each drafter would have drafted in these very answers was "
        "then counted for every draft length, and each round priced at what its pass and its "
        "drafting cost here. A speed-up is the geometric mean over answers; its interval covers "
        "what other rounds and prices like these would give, and how far off plans tend to be."
    )
