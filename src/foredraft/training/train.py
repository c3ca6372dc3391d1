"""From what a person asks to a draft: gather, learn, and say whether it pays."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from foredraft.core.sampling import SamplingParams
from foredraft.drafters.base import CostlyDrafter
from foredraft.engine.load import pair
from foredraft.heads.load import load_head
from foredraft.planner.advice import judge
from foredraft.planner.plan import Choice, Plan, Verdict
from foredraft.planner.planning import plan
from foredraft.planner.survey import Scope, survey
from foredraft.rivals.prompts import Sample
from foredraft.targets.base import Progress
from foredraft.targets.torch_hf import TorchTarget, load_target
from foredraft.training.gather import Amount, Ended
from foredraft.training.learn import Kind
from foredraft.training.lesson import Curriculum, Lesson, learnt
from foredraft.training.material import Material, gathered
from foredraft.training.states import States

_GATHERING = 0.5
"""The share of the time after which gathering stops."""
_JUDGING = 0.1
_JUDGING_S = (60.0, 180.0)
_LEAST_S = 60.0
_TOKENS = 96
_THRESHOLD = 1.2


@dataclass(frozen=True, slots=True)
class Made:
    """A draft in a folder: what it learnt from, why gathering ended, and the planner's opinion.

    `choice` is the draft at its best length, and `verdict` is on it; `plan` has the lookups too.
    """

    folder: Path
    states: States
    gathered: Ended
    lesson: Lesson
    plan: Plan
    choice: Choice
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """JSON; its schema is that of `plan --json` and training.json, and what is said here."""
        return {
            "version": 1,
            "folder": str(self.folder),
            "states": str(self.states.folder),
            "gathered": str(self.gathered),
            "lesson": asdict(self.lesson),
            "verdict": str(self.verdict),
            "predicted_speedup": self.choice.predicted_speedup,
            "draft_len": self.choice.draft_len,
            "judged": self.plan.to_dict(),
        }


def train(
    target: TorchTarget,
    curriculum: Curriculum,
    material: Material,
    amount: Amount,
    held: Path,
    out: Path,
    report: Progress,
) -> Made:
    """Make a draft for `target` in `out`, of the hidden states in `held` and as many more as are
    wanted. `amount.seconds` bounds the whole of it.

    What was done before in the same folders is not done again. KeyboardInterrupt keeps what is
    done, so that the next call goes on.
    """
    begun = time.monotonic()
    half = replace(amount, seconds=amount.seconds * _GATHERING)
    states, ended = gathered(target, curriculum.kind, held, material, half, report)
    if ended is Ended.STOPPED:
        raise KeyboardInterrupt
    judging = min(max(amount.seconds * _JUDGING, _JUDGING_S[0]), _JUDGING_S[1])
    left = amount.seconds - (time.monotonic() - begun) - judging
    lesson = learnt(target, states, curriculum, out, max(left, _LEAST_S), report)
    drafter = drafter_of(target, curriculum.kind, out)
    found = judged(target, out, drafter, material.judges, judging, report)
    choice = next(row for row in found.rows if row.draft is not None)
    return Made(out, states, ended, lesson, found, choice, judge(choice, _THRESHOLD))


def judged(
    target: TorchTarget,
    name: Path,
    drafter: CostlyDrafter,
    judges: Sequence[Sample],
    seconds: float,
    report: Progress,
) -> Plan:
    """The planner's opinion of a draft beside the lookups, on prompts that it did not learn."""
    scope = Scope(judges, SamplingParams(), _TOKENS, seconds)
    return plan(target, survey(target, {str(name): drafter}, scope, report), scope, _THRESHOLD)


def drafter_of(target: TorchTarget, kind: Kind, folder: Path) -> CostlyDrafter:
    """A drafter that drafts with what was made in a folder."""
    draft = load_target(str(folder)) if kind is Kind.SMALL else load_head(str(folder), target)
    return pair(target, draft)
