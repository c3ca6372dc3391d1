"""What was learnt, from what, and how well: kept beside the draft, which is then not made again."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.core.files import write_whole
from foredraft.targets.base import Progress
from foredraft.targets.torch_hf import TorchTarget
from foredraft.training.alpha import Alpha
from foredraft.training.learn import Kind, Options, learn
from foredraft.training.loop import Course
from foredraft.training.states import States
from foredraft.training.vocabulary import draft_vocabulary

_TOLD = "training.json"


@dataclass(frozen=True, slots=True)
class Curriculum:
    """What is to be learnt; `vocabulary` is how many tokens a head can draft, `steps` how deep a
    draft it learns for."""

    kind: Kind
    epochs: int = 8
    steps: int = 4
    vocabulary: int = 8192
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learnt from so many tokens of answers, of which the share `coverage` is in the
    draft's vocabulary; α is that of the best epoch, on prompts that were held out."""

    plan: Curriculum
    answer_tokens: int
    coverage: float
    parameters: int
    alpha: Alpha

    @classmethod
    def read(cls, folder: Path) -> "Lesson | None":
        """That of the draft in a folder, if it was made there and is finished."""
        try:
            told: dict[str, Any] = json.loads((folder / _TOLD).read_text())
            plan, alpha = told.pop("plan"), told.pop("alpha")
            return cls(
                Curriculum(Kind(plan.pop("kind")), **plan),
                alpha=Alpha(tuple(alpha["greedy"]), tuple(alpha["sampled"]), alpha["judged"]),
                **told,
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def write(self, folder: Path) -> None:
        write_whole(folder / _TOLD, json.dumps(asdict(self), indent=1) + "\n")


def learnt(
    target: TorchTarget,
    states: States,
    plan: Curriculum,
    folder: Path,
    seconds: float,
    report: Progress,
) -> Lesson:
    """Make the draft in `folder`, unless it is there and was made by this plan of these states."""
    if not any(True for _ in states.examples(held_out=True)):
        raise ForedraftError(
            f"The {states.answer_tokens:,} tokens of answers are too few to hold any out for "
            "validation; give more --tokens, --space or --budget."
        )
    plan = replace(plan, vocabulary=min(plan.vocabulary, target.vocab_size))
    found = Lesson.read(folder)
    if found is not None and (found.plan, found.answer_tokens) == (plan, states.answer_tokens):
        return found
    (folder / _TOLD).unlink(missing_ok=True)
    ids, coverage = draft_vocabulary(
        states.texts(), plan.vocabulary, target.vocab_size, target.tokenizer.eos_ids
    )
    course = Course(plan.epochs, seconds, seed=plan.seed)
    made = learn(states, target, Options(plan.kind, folder, ids, course, plan.steps), report)
    lesson = Lesson(plan, states.answer_tokens, coverage, made.parameters, made.alpha)
    lesson.write(folder)
    return lesson
