"""A plan from what was surveyed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from statistics import median

from foredraft.planner.advice import explain, judge
from foredraft.planner.answers import Answer
from foredraft.planner.machine import machine, versions
from foredraft.planner.plan import AtTemperature, Choice, Kind, Plan, VerifyCurve
from foredraft.planner.predict import Written, acceptance, by_position, drafting_share, predict
from foredraft.planner.survey import Scope, Setting, Survey
from foredraft.targets.base import Target

_UNSURE = 0.03
"""How far off a prediction is taken to be for reasons that no measurement here shows."""


_BUSY = 1.6
"""Slow plain tokens over quick ones, above which something else must be running."""


def plan(
    target: Target, found: Survey, scope: Scope, threshold: float, errors: Sequence[float] = ()
) -> Plan:
    """Rank every setting and judge the best. `errors` of earlier plans (predicted over measured,
    less one) widen the intervals to what plans have really been worth here."""
    unsure = max(_UNSURE, median(abs(one) for one in errors) if errors else 0.0)
    step_s = median(answer.step_s for answer in found.answers)
    rows = _ranked(found.written, found, unsure)
    drafting = [row for row in rows if row.acceptance_rate > 0]
    best = drafting[0] if drafting else None
    measured = found.curve.measured
    curve = VerifyCurve(tuple(measured), tuple(measured.values()))
    return advised(
        Plan(
            target=target.name,
            engine=target.engine,
            temperature=scope.params.temperature,
            machine=machine(),
            made=f"{date.today()}, {versions(target.engine)}",
            verdict=judge(best, threshold),
            why="",
            threshold=threshold,
            best=best,
            verify_curve=curve,
            plain_step_s=step_s,
            rows=tuple(rows),
            kinds=_kinds(found, best),
            notes=(*found.notes, *_busy(found.answers)),
            temperatures=tuple(
                AtTemperature(temperature, _best_of_each(_ranked(written, found, unsure)))
                for temperature, written in found.at.items()
            ),
        )
    )


def advised(plan: Plan) -> Plan:
    """The plan with its verdict and reasons made anew from its numbers."""
    verdict = judge(plan.best, plan.threshold)
    why = explain(verdict, plan.best, plan.rows, plan.verify_curve, plan.kinds, plan.threshold)
    return replace(plan, verdict=verdict, why=why)


def with_measured(plan: Plan, speedup: float) -> Plan:
    """The plan after its best choice ran; its verdict must now bear what was measured."""
    assert plan.best is not None
    best = replace(plan.best, measured_speedup=speedup)
    rows = tuple(best if row == plan.best else row for row in plan.rows)
    return advised(replace(plan, best=best, rows=rows))


def _busy(answers: Sequence[Answer]) -> list[str]:
    low, high = min(one.quick_s for one in answers), max(one.slow_s for one in answers)
    if high / low < _BUSY:
        return []
    return [
        f"The machine was busy: a plain token took from {1000 * low:.0f} to {1000 * high:.0f} ms. "
        "Predictions hold for such a machine; measure again when nothing else runs."
    ]


def _ranked(
    written: Mapping[Setting, Sequence[Written]], found: Survey, unsure: float
) -> list[Choice]:
    rows = [_choice(setting, made, found, unsure) for setting, made in written.items()]
    return sorted(rows, key=lambda row: -row.predicted_speedup)


def _best_of_each(ranked: Sequence[Choice]) -> tuple[Choice, ...]:
    best: dict[tuple[str, str | None], Choice] = {}
    for row in ranked:
        best.setdefault((row.drafter, row.draft), row)
    return tuple(best.values())


def _choice(setting: Setting, made: Sequence[Written], found: Survey, unsure: float) -> Choice:
    speed, low, high = predict(made, found.curve)
    accepted, judged = acceptance([one for written in made for one in written.passes])
    cost = median(one.costs.token_s / one.answer.step_s for one in made)
    return Choice(
        drafter=setting.drafter,
        draft_len=setting.draft_len,
        acceptance_rate=accepted / judged if judged else 0.0,
        cost_ratio=cost,
        predicted_speedup=speed,
        low=low / (1 + unsure),
        high=high * (1 + unsure),
        token_s=median(answer.step_s for answer in found.answers) / speed,
        draft=setting.draft,
        drafting_share=drafting_share([one for written in made for one in written.passes]),
    )


def _kinds(found: Survey, best: Choice | None) -> dict[str, Kind]:
    if best is None:
        return {}
    made = found.written[Setting(best.drafter, best.draft, best.draft_len)]
    kinds: dict[str, list[Written]] = {}
    for one in made:
        kinds.setdefault(one.answer.kind, []).append(one)
    return {
        name: Kind(
            len(those),
            predict(those, found.curve)[0],
            tuple(by_position([one for written in those for one in written.passes])),
        )
        for name, those in kinds.items()
    }
