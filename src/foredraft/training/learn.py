"""From hidden states on disk to a draft in a folder."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import torch

from foredraft.core.types import IntArray
from foredraft.targets.base import Progress
from foredraft.targets.torch_hf import TorchTarget
from foredraft.training.alpha import Alpha
from foredraft.training.eagle3 import Eagle3Trainee
from foredraft.training.loop import Course, Trainee, train
from foredraft.training.medusa import MedusaTrainee
from foredraft.training.small import Size, SmallTrainee
from foredraft.training.states import States
from foredraft.training.teacher import Teacher

_CHECKPOINT = "checkpoint.pt"


class Kind(StrEnum):
    """What can be made of a target's hidden states."""

    EAGLE3 = "eagle3"
    MEDUSA = "medusa"
    SMALL = "small"


@dataclass(frozen=True, slots=True)
class Options:
    """What to make, and where.

    `vocabulary` are the target's tokens that a head can draft, in ascending order; `steps` is how
    deep a draft it learns for, and `size` is that of a small model.
    """

    kind: Kind
    folder: Path
    vocabulary: IntArray
    course: Course = field(default_factory=Course)
    steps: int = 3
    size: Size = field(default_factory=lambda: Size(256, 2))


@dataclass(frozen=True, slots=True)
class Trained:
    """What was made, and its α after each epoch; its weights are those of the best one."""

    folder: Path
    parameters: int
    alphas: Sequence[Alpha]

    @property
    def alpha(self) -> Alpha:
        return max(self.alphas, key=lambda alpha: alpha.length)


def learn(states: States, target: TorchTarget, options: Options, report: Progress) -> Trained:
    """Train a draft for `target` from its hidden states, and publish it in `options.folder`.

    Stopped with Ctrl-C, it goes on where it was when it is called with the same folder.
    """
    checkpoint = options.folder / _CHECKPOINT
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.course.seed)
    trainee = _trainee(states, target, options)
    alphas = train(trainee, states, options.course, checkpoint, report)
    trainee.publish(options.folder)
    checkpoint.unlink(missing_ok=True)
    parameters = sum(weight.numel() for weight in trainee.network.parameters())
    return Trained(options.folder, parameters, alphas)


def _trainee(states: States, target: TorchTarget, options: Options) -> Trainee:
    teacher, ids = Teacher(target), torch.from_numpy(options.vocabulary).long()
    match options.kind:
        case Kind.EAGLE3:
            return Eagle3Trainee.begin(teacher, states, ids, options.steps)
        case Kind.MEDUSA:
            return MedusaTrainee(teacher, ids, options.steps)
        case Kind.SMALL:
            used = torch.tensor(sorted({token for text, _ in states.texts() for token in text}))
            return SmallTrainee.begin(teacher, used, options.size)
