"""Measuring: real answers, the price of passes, and what every drafter would have made of them."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.drafters.base import CostlyDrafter, Drafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.calibrate import prices_of
from foredraft.engine.replay import passes as lookup_passes
from foredraft.planner.answers import PROBED, Answer, write
from foredraft.planner.drafting import DEEPEST, Followed, follow, passes
from foredraft.planner.predict import Costs, Curve, Written
from foredraft.rivals.prompts import Sample
from foredraft.targets.base import Progress, Target

MODEL_LENGTHS = tuple(range(1, DEEPEST + 1))
LOOKUP_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16)
_LEAST = 16
"""Tokens an answer has before its share of the time counts."""
_PROBES = 8
"""How often each row count is priced, over all answers."""
_DRAFT_SHARE = 0.6
"""What asking a draft model everywhere is taken to add to an answer's time."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A drafter, the model that it asks if any, and a draft length γ."""

    drafter: str
    draft: str | None
    draft_len: int


@dataclass(frozen=True, slots=True)
class Survey:
    """Answers and, by setting, how each of them would have been written; by temperature too, as
    far as other temperatures were asked for."""

    answers: list[Answer]
    curve: Curve
    written: dict[Setting, list[Written]]
    notes: list[str] = field(default_factory=list)
    at: dict[float, dict[Setting, list[Written]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """What to measure, and for how long: `tokens` an answer at most, `budget_s` seconds in all.

    `temperatures` are looked at beside the one of `params`, along the same answers.
    """

    samples: Sequence[Sample]
    params: SamplingParams
    tokens: int = 96
    budget_s: float = 180.0
    seed: int = 0
    temperatures: Sequence[float] = ()


def survey(
    target: Target, drafts: Mapping[str, CostlyDrafter], scope: Scope, report: Progress
) -> Survey:
    """Answer the prompts plainly, then see what each drafter would have drafted.

    Every answer gets an equal share of the time; those for which none is left are left out, which
    the notes say. Raises ForedraftError when no prompt fits the target's context.
    """
    notes: list[str] = []
    answers = _answers(target, len(drafts), scope, report, notes)
    curve = _curve(target, answers, list(drafts.values()))
    asked: dict[str, list[Followed]] = {}
    for name, drafter in drafts.items():
        asked[name] = []
        for number, answer in enumerate(answers):
            report(f"Drafting with {name}", number, len(answers))
            asked[name].append(follow(target, drafter, answer, scope.params, scope.seed))

    def written(temperature: float | None = None) -> dict[Setting, list[Written]]:
        found = _lookups(answers, temperature)
        for name, drafter in drafts.items():
            for length in MODEL_LENGTHS[: drafter.reach]:
                share = drafter.passes(length) / length
                made = zip(asked[name], answers, strict=True)
                found[Setting(drafter.name, name, length)] = [
                    _drafted(one, length, share, answer, temperature) for one, answer in made
                ]
        return found

    at = {temperature: written(temperature) for temperature in scope.temperatures}
    return Survey(answers, curve, written(), notes, at)


def _answers(
    target: Target, drafts: int, scope: Scope, report: Progress, notes: list[str]
) -> list[Answer]:
    end = time.perf_counter() + scope.budget_s / (1 + _DRAFT_SHARE * drafts)
    answers: list[Answer] = []
    prompts = [(one, one.tokens(target.tokenizer)) for one in scope.samples]
    fitting = [(one, ids) for one, ids in prompts if len(ids) < target.context]
    if not fitting:
        raise ForedraftError(
            f"No prompt fits the {target.context} tokens that {target.name} has room for; give "
            "shorter ones."
        )
    if left_out := len(prompts) - len(fitting):
        notes.append(f"{left_out} of {len(prompts)} prompts were too long and left out.")
    probes = math.ceil(_PROBES / len(fitting))
    for number, (one, ids) in enumerate(fitting):
        begun = time.perf_counter()
        if answers and begun >= end:
            notes.append(f"Time was up after {number} of {len(fitting)} prompts.")
            break
        share = begun + (end - begun) / (len(fitting) - number)

        def go_on(made: int, share: float = share, number: int = number) -> bool:
            report("Answering", scope.tokens * number + made, scope.tokens * len(fitting))
            now = time.perf_counter()
            return now < share or (made < _LEAST and now < end)

        answers.append(
            write(
                target,
                one.kind,
                ids,
                scope.params,
                scope.seed,
                scope.tokens,
                probes,
                go_on,
                scope.temperatures,
            )
        )
    return answers


def _curve(target: Target, answers: Sequence[Answer], drafters: list[CostlyDrafter]) -> Curve:
    most = max(PROBED)
    ratios = {n: [r for one in answers for r in one.ratios.get(n, ())] for n in PROBED}
    ratios = {n: seen for n, seen in ratios.items() if seen}
    if not ratios:  # the target cannot take rows back: priced on a text of its own
        prices = prices_of(target, list[Drafter](drafters), False, None)
        ratios = {n: [prices.verify(n) / prices.verify(1)] for n in PROBED}
    return Curve(ratios, most)


def _lookups(answers: Sequence[Answer], temperature: float | None) -> dict[Setting, list[Written]]:
    kinds: list[type[NgramDrafter] | type[SuffixDrafter]] = [NgramDrafter, SuffixDrafter]
    return {
        Setting(kind.name, None, length): [
            _copied(kind(), length, answer, temperature) for answer in answers
        ]
        for kind in kinds
        for length in LOOKUP_LENGTHS
    }


def _copied(drafter: Drafter, length: int, answer: Answer, temperature: float | None) -> Written:
    drawn = answer.output if temperature is None else answer.drawn[temperature]
    begun = time.perf_counter()
    made = lookup_passes(drafter, length, answer.prompt, answer.output, answer.limit, drawn)
    drafted = sum(one.drafted for one in made)
    token_s = (time.perf_counter() - begun) / max(1, drafted)
    return Written(answer, made, Costs(token_s=token_s if drafted else 0.0))


def _drafted(
    followed: Followed, length: int, share: float, answer: Answer, temperature: float | None
) -> Written:
    """An answer written with drafts of one length, of which a token takes a `share` of a pass."""
    runs = followed.runs if temperature is None else followed.runs_at[temperature]
    costs = Costs(followed.open_s, share * followed.pass_s, followed.reread_s)
    return Written(answer, passes(runs, length, answer.limit), costs)
