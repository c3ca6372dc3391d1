"""Measuring: what the planner makes of drafts of several sizes, and what they then are worth."""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any

from foredraft.core.files import write_whole
from foredraft.core.sampling import SamplingParams
from foredraft.core.stats import wilson
from foredraft.engine.generator import Generator
from foredraft.engine.load import pair
from foredraft.planner.answers import Answer
from foredraft.planner.confirm import speedup, speedups
from foredraft.planner.planning import plan
from foredraft.planner.predict import Written, acceptance, predict
from foredraft.planner.survey import Scope, Setting, Survey, survey
from foredraft.rivals.prompts import Sample
from foredraft.targets.base import Progress, Target
from sizing.notes import LANGUAGES, held_out

COMMON = 3
"""The γ that every draft runs with beside its own best."""
THRESHOLD = 1.2


class Ledger:
    """What was measured so far, in a file that is written whole after each step."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` returned when it was first called for `name`."""
        if name not in self._kept:
            self._kept[name] = make()
            write_whole(self._path, json.dumps(self._kept, ensure_ascii=False) + "\n")
        return self._kept[name]


def measure(
    target: Target,
    drafts: Mapping[str, Target],
    temperature: float,
    each: int,
    tokens: int,
    ledger: Ledger,
    report: Progress,
) -> dict[str, Any]:
    """At one temperature: the planner's prediction for every draft at its best γ and at COMMON,
    and the speed measured beside plain decoding, in turns."""
    samples = [Sample(note.id, note.lang, note.messages) for note in held_out(each)]
    scope = Scope(samples, SamplingParams(temperature=temperature), tokens, budget_s=1e9)

    def surveyed() -> dict[str, Any]:
        using = {name: pair(target, draft) for name, draft in drafts.items()}
        return _predicted(target, survey(target, using, scope, report), scope)

    found = deepcopy(ledger.once(f"temperature {temperature:g}", surveyed))
    answers = [Answer(**one) for one in found.pop("answers")]
    plain = Generator(target)
    for row in found["rows"]:
        name, length = row["draft"], row["draft_len"]
        what = f"temperature {temperature:g}, {name}, γ = {length}"
        ratios = ledger.once(
            what,
            lambda name=name, length=length, what=what: speedups(
                plain,
                lambda: pair(target, drafts[name]),
                length,
                answers,
                scope,
                lambda _, done, total: report(what, done, total),
            ),
        )
        row["measured"] = round(speedup(ratios), 3)
        for lang in LANGUAGES:
            of = [r for r, one in zip(ratios, answers, strict=True) if one.kind == lang]
            row[lang]["measured"] = round(speedup(of), 3)
    return found | _winners(found["rows"])


def _predicted(target: Target, found: Survey, scope: Scope) -> dict[str, Any]:
    """The plan in numbers, a row for each draft and γ that is to run, and the answers to run."""
    planned = plan(target, found, scope, THRESHOLD)
    rows = []
    for draft in {choice.draft: None for choice in planned.rows if choice.draft}:
        best = next(choice for choice in planned.rows if choice.draft == draft)
        for length in sorted({best.draft_len, COMMON}):
            made = found.written[Setting(best.drafter, draft, length)]
            by = {lang: [w for w in made if w.answer.kind == lang] for lang in LANGUAGES}
            rows.append(
                {
                    "draft": draft,
                    "draft_len": length,
                    "best": length == best.draft_len,
                    "cost_ratio": round(best.cost_ratio, 3),
                }
                | _expected(made, found)
                | {lang: _expected(those, found) for lang, those in by.items()}
            )
    lookup = next(choice for choice in planned.rows if not choice.draft)
    return {
        "verdict": planned.verdict,
        "why": planned.why,
        "plain_step_s": round(planned.plain_step_s, 4),
        "verify_curve": {n: round(v, 3) for n, v in found.curve.measured.items()},
        "best_lookup": {
            "drafter": lookup.drafter,
            "draft_len": lookup.draft_len,
            "predicted": round(lookup.predicted_speedup, 3),
        },
        "tokens": sum(len(answer.output) for answer in found.answers),
        "rows": rows,
        "answers": [asdict(answer) for answer in found.answers],
    }


def _expected(made: Sequence[Written], found: Survey) -> dict[str, Any]:
    """α with the tokens it was counted on and its 95 % interval, and the predicted speed-up."""
    accepted, judged = acceptance([one for written in made for one in written.passes])
    speed, low, high = predict(made, found.curve)
    return {
        "acceptance_rate": round(accepted / judged, 3),
        "judged": judged,
        "interval": [round(bound, 3) for bound in wilson(accepted, judged)],
        "predicted": round(speed, 3),
        "low": round(low, 3),
        "high": round(high, 3),
    }


def _winners(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The row that was predicted to be the fastest, and the one that was."""
    chosen, fastest = (max(rows, key=lambda row: row[by]) for by in ("predicted", "measured"))
    named = lambda row: {"draft": row["draft"], "draft_len": row["draft_len"]}  # noqa: E731
    return {
        "predicted_winner": named(chosen) | {"measured": chosen["measured"]},
        "measured_winner": named(fastest) | {"measured": fastest["measured"]},
    }
