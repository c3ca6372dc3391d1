"""Plans to export: one for each drafter and verdict."""

from dataclasses import replace
from typing import Any

from foredraft.planner.plan import Choice, Plan, Verdict, VerifyCurve

CHOICES = {
    "model": Choice("model", 3, 0.7, 0.1, 1.5, 1.3, 1.7, 0.03, draft="org/small"),
    "ngram": Choice("ngram", 4, 0.6, 0.0, 1.4, 1.3, 1.5, 0.03),
    "suffix": Choice("suffix", 6, 0.6, 0.0, 1.4, 1.3, 1.5, 0.03),
}
_PLAN = Plan(
    target="org/big",
    engine="torch",
    temperature=0.0,
    machine="a processor",
    made="today",
    verdict=Verdict.USE,
    why="It pays.",
    threshold=1.2,
    best=CHOICES["model"],
    verify_curve=VerifyCurve((1, 2, 4), (1.0, 1.1, 1.3)),
    plain_step_s=0.05,
    rows=(),
    kinds={},
)


def plan(drafter: str = "model", best: dict[str, Any] | None = None, **changes: Any) -> Plan:
    """A plan whose best choice has this drafter; `best` and `changes` replace fields of the two."""
    return replace(_PLAN, best=replace(CHOICES[drafter], **(best or {})), **changes)


LOSING = plan(verdict=Verdict.DO_NOT, why="The draft is too heavy: c 0.44.")
UNSURE = plan(verdict=Verdict.MEASURE_LONGER)
