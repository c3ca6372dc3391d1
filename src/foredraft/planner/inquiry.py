"""From what a person asks to a plan: load, survey, judge, and run the best if wanted."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.drafters.base import Drafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.load import models, pair
from foredraft.heads.base import Head
from foredraft.planner.confirm import speedup, speedups
from foredraft.planner.facts.read import read
from foredraft.planner.history import Outcome, keep, past
from foredraft.planner.pairing.memory import bill, said, usual_context
from foredraft.planner.plan import Choice, Plan
from foredraft.planner.planning import plan, with_measured
from foredraft.planner.survey import Scope, survey
from foredraft.planner.temperatures import TEMPERATURES
from foredraft.rivals.prompts import Sample
from foredraft.targets.base import Progress, Target
from foredraft.targets.engines import Placement

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What a person wants planned; see Scope for the measuring. `run`: then run the best.

    `suppose`: also look at other temperatures.
    """

    model: str
    drafts: tuple[str, ...]
    samples: Sequence[Sample]
    params: SamplingParams
    tokens: int
    budget_s: float
    threshold: float
    engine: str = "auto"
    draft_engine: str = "auto"
    seed: int = 0
    run: bool = False
    suppose: bool = False


def inquire(
    asked: Inquiry, placement: Placement, report: Progress, history: Path | None = None
) -> Plan:
    """The plan; `history` is where earlier predictions and their outcomes are kept.

    Raises ForedraftError for a model that cannot be loaded, and a draft that cannot be paired.
    """
    history = history or _history()
    target, loaded = models(
        placement, asked.model, asked.engine, asked.drafts, asked.draft_engine, report
    )
    drafts = {name: pair(target, draft) for name, draft in zip(asked.drafts, loaded, strict=True)}
    warm = sorted({asked.params.temperature, *TEMPERATURES}) if asked.suppose else ()
    scope = Scope(asked.samples, asked.params, asked.tokens, asked.budget_s, asked.seed, warm)
    found = survey(target, drafts, scope, report)
    earlier = past(history, target.name, target.engine)
    made = plan(target, found, scope, asked.threshold, [one.error for one in earlier])
    notes = (*made.notes, *_memory((asked.model, *asked.drafts), report), *_said(earlier))
    made = replace(made, notes=notes)
    if not asked.run or made.best is None:
        return made
    make = _maker(made.best, target, dict(zip(asked.drafts, loaded, strict=True)))
    plain = Generator(target)
    ratios = speedups(plain, make, made.best.draft_len, found.answers, scope, report)
    _remember(history, target, made.best, speedup(ratios))
    return with_measured(made, speedup(ratios))


def _maker(best: Choice, target: Target, drafts: dict[str, Target | Head]) -> Callable[[], Drafter]:
    if best.draft is not None:
        draft = drafts[best.draft]
        return lambda: pair(target, draft)
    return NgramDrafter if best.drafter == NgramDrafter.name else SuffixDrafter


def _remember(history: Path, target: Target, best: Choice, measured: float) -> None:
    outcome = Outcome(
        target.name,
        target.engine,
        best.drafter,
        best.draft,
        best.draft_len,
        best.predicted_speedup,
        measured,
    )
    with suppress(OSError):  # a disk that refuses is no reason to lose the plan
        keep(history, outcome)


def _memory(names: Sequence[str], report: Progress) -> list[str]:
    """The memory bill; none for a model whose files do not tell."""
    try:
        models = [read(name, report) for name in names]
    except ForedraftError:
        return []
    tokens = usual_context(*models)
    bills = [(name, bill(model, tokens)) for name, model in zip(names, models, strict=True)]
    parts = [f"{name} {said(b.weights_bytes)} + {said(b.kv_bytes)}" for name, b in bills]
    return [
        f"Memory, weights as stored + keys and values at {tokens:,} tokens: {', '.join(parts)}."
    ]


def _said(earlier: Sequence[Outcome]) -> list[str]:
    if not earlier:
        return []
    last = ", ".join(f"{one.error:+.0%}" for one in earlier[-_SHOWN:])
    return [f"Earlier predictions for this model here were off by {last} from what was measured."]


def _history() -> Path:
    from foredraft.targets.hub import cache_dir

    return cache_dir() / "plans.jsonl"
