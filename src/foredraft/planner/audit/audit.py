"""The exactness levels audited on a person's own model, drafters, settings and prompts."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.types import Exactness, FloatArray, LogitArray
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.planner.audit.chooser import Chooser
from foredraft.planner.audit.difference import raised
from foredraft.planner.audit.equality import Equality, compare
from foredraft.planner.audit.forced import forced, rounding
from foredraft.planner.audit.pit import FALSE_ALARM, Evidence, Fit
from foredraft.planner.audit.runs import Run, Runs
from foredraft.targets.base import Progress, Target

VERSION = 1
WARM = 0.8
"""The temperature that sampling is audited at where the request is greedy."""
ALLOWANCE = 2
"""Rounding is measured on some rows; others may round worse, and so many times as much passes."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found; `greedy`, `same_seed` and `fit` are None where they were not asked.

    `drafter` is the URL where another engine was audited, whose level and drafts are unknown.
    `rounding` is the margin up to which a difference is a near tie.
    """

    model: str
    engine: str
    drafter: str
    exactness: Exactness | None
    temperature: float
    seed: int
    prompts: tuple[str, ...]
    drafted: int | None
    accepted: int | None
    rounding: float
    greedy: Equality
    same_seed: Equality | None
    fit: Fit | None

    @property
    def ok(self) -> bool:
        """Whether nothing is off."""
        texts = [text for text in (self.greedy, self.same_seed) if text is not None]
        return all(text.ok for text in texts) and not (self.fit and self.fit.off)

    def to_dict(self) -> dict[str, Any]:
        """The object of `--json`."""
        made = {"version": VERSION, "ok": self.ok, "false_alarm": FALSE_ALARM, **asdict(self)}
        for name in ("greedy", "same_seed"):
            if made[name] is not None:
                made[name]["ok"] = getattr(self, name).ok
        if self.fit is not None:
            for name in ("surprise_z", "visible", "off"):
                made["fit"][name] = getattr(self.fit, name)
        return made


def audit(
    generator: Generator,
    request: Request,
    prompts: Sequence[tuple[str, list[int]]],
    progress: Progress | None = None,
) -> Audit:
    """Decode every prompt, (id, tokens), with speculation and plainly, greedily and sampled.

    Raises ForedraftError where there is no speculation to audit.
    """
    if generator.drafter == "none" or request.draft_len == 0:
        raise ForedraftError(
            "There is no speculation to audit with --drafter none or --draft-len 0; leave them out."
        )
    target, params = generator.target, request.params
    cold = replace(request, params=replace(params, temperature=0.0))
    warm = replace(request, params=replace(params, temperature=params.temperature or WARM))
    keeps_text = request.exactness is not Exactness.DISTRIBUTION
    tell = progress or (lambda what, done, total: None)
    runs = Runs(generator, prompts, 3 + keeps_text, tell)
    greedy, sampled = runs.make(cold, plainly=True), runs.make(warm, plainly=keeps_text)
    tell("Measuring rounding", 0, 1)
    slack = ALLOWANCE * rounding(target, [run.text for run in greedy])
    allowed = None if request.exactness is Exactness.BITWISE else slack
    tell("Comparing", 0, 1)
    return Audit(
        model=target.name,
        engine=target.engine,
        drafter=generator.drafter,
        exactness=request.exactness,
        temperature=warm.params.temperature,
        seed=request.seed or 0,
        prompts=tuple(name for name, _ in prompts),
        drafted=runs.drafted,
        accepted=runs.accepted,
        rounding=slack,
        greedy=compare(target, greedy, allowed),
        same_seed=compare(target, sampled, allowed) if keeps_text else None,
        fit=fit(target, sampled, slack, tell),
    )


def fit(target: Target, runs: Sequence[Run], slack: float, tell: Progress) -> Fit:
    """Whether the texts were drawn from p: p of one pass of the target alone over each, not of
    what the engine says about itself."""
    evidence = Evidence(np.random.default_rng(runs[0].request.seed))
    cache = target.open()
    for done, run in enumerate(runs):
        tell("Judging", done, len(runs))
        evidence.begin()
        chooser = Chooser(target, run.request)
        places = zip(run.text.output, run.proposals, forced(target, cache, run.text), strict=True)
        for at, (token, proposal, logits) in enumerate(places):
            p = _holding(partial(chooser.law, run.text, at), logits, token, slack)
            evidence.add(p, token, proposal.overrated(p, slack) if proposal else None)
    return evidence.fit()


def _holding(
    law: Callable[[LogitArray], FloatArray], logits: LogitArray, token: int, slack: float
) -> FloatArray:
    """p, or, where it leaves the token out by less than rounding, a p that just holds it.

    At the edge of top-k, top-p or min-p the engine may keep a token that p drops here.
    """
    p = law(logits)
    if p[token] == 0:
        for wrong in raised(logits, token, slack):
            other = law(wrong)
            if other[token] > 0:
                return other
    return p
