"""The training loop: whatever learns, by whatever loss, it can be stopped and goes on."""

import io
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Protocol

import torch
from torch import nn

from foredraft.core.files import write_whole
from foredraft.targets.base import Progress
from foredraft.targets.placement import place
from foredraft.training.alpha import Alpha
from foredraft.training.states import Example

_WARM_UP = 0.05
_LEAST = 0.02
"""The share of the learning rate that a run begins and ends with."""
_CLIP = 1.0
_SAVE_S = 120.0
_SORTED = 8
"""Batches that are cut from examples sorted by length."""


class Trainee(Protocol):
    """What learns: `network` holds its weights, `rate` is the learning rate that suits it."""

    rate: float

    @property
    def network(self) -> nn.Module: ...

    def loss(self, examples: Sequence[Example]) -> torch.Tensor:
        """A number to make smaller."""

    def judge(self, examples: Sequence[Example]) -> Alpha:
        """How it drafts on texts that it does not learn from."""

    def publish(self, folder: Path) -> None:
        """Write the draft as a folder that foredraft and other engines load."""


class Lessons(Protocol):
    """What is learnt from: States, or a benchmark's answers, which have no hidden states."""

    def examples(self, held_out: bool = False, seed: int | None = None) -> Iterator[Example]: ...

    def taught_tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Course:
    """How long to learn: `epochs` times over all examples, or `seconds` if these are over first.

    `batch` is how many of the answers' tokens a step learns from, about.
    """

    epochs: int = 8
    seconds: float = math.inf
    batch: int = 1024
    seed: int = 0


@dataclass(slots=True)
class _Stand:
    """How far a run has come: steps within the epoch, tokens and seconds in all."""

    epoch: int = 0
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    alphas: list[Alpha] = field(default_factory=list)
    best: dict[str, torch.Tensor] = field(default_factory=dict)


def train(
    trainee: Trainee, lessons: Lessons, course: Course, checkpoint: Path, report: Progress
) -> list[Alpha]:
    """Train in place; α after each epoch. The weights of the best epoch stay.

    Every two minutes, when it is interrupted and when it is done, the run is kept in `checkpoint`;
    with that file there it goes on where it was.
    """
    network = trainee.network
    learnt = [weight for weight in network.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(learnt, betas=(0.9, 0.95), weight_decay=0.01)
    stand = _resume(checkpoint, network, optimizer)
    total = course.epochs * lessons.taught_tokens()
    held_out = list(lessons.examples(held_out=True))
    saved, clock = time.monotonic(), time.monotonic() - stand.seconds
    try:
        while stand.epoch < course.epochs and stand.seconds < course.seconds:
            batches = _batches(lessons, course, stand.epoch)
            for batch in islice(batches, stand.step, None):
                done = max(stand.tokens / total, stand.seconds / course.seconds)
                _step(trainee, optimizer, trainee.rate * _share(done), batch)
                stand.step += 1
                stand.tokens += sum(map(_learnt, batch))
                stand.seconds = time.monotonic() - clock
                report(f"Training, epoch {stand.epoch + 1}", round(100 * done), 100)
                if time.monotonic() - saved > _SAVE_S:
                    _save(checkpoint, network, optimizer, stand)
                    saved = time.monotonic()
                if stand.seconds >= course.seconds:
                    break
            stand.alphas.append(trainee.judge(held_out))
            if max(stand.alphas, key=lambda alpha: alpha.length) is stand.alphas[-1]:
                stand.best = _weights(network)
            stand.epoch, stand.step = stand.epoch + 1, 0
        _save(checkpoint, network, optimizer, stand)
    except KeyboardInterrupt:
        _save(checkpoint, network, optimizer, stand)
        raise
    network.load_state_dict(stand.best, strict=False)
    return stand.alphas


def _step(
    trainee: Trainee, optimizer: torch.optim.Optimizer, rate: float, batch: Sequence[Example]
) -> None:
    learnt = [weight for group in optimizer.param_groups for weight in group["params"]]
    for group in optimizer.param_groups:
        group["lr"] = rate
    with _mixed(learnt[0].device.type):
        loss = trainee.loss(batch)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(learnt, _CLIP)
    optimizer.step()


def _mixed(device: str) -> torch.autocast:
    """Products in bfloat16 where the device has units for it: several times as fast there."""
    units = place("auto", device)[0] is torch.bfloat16
    return torch.autocast(device, torch.bfloat16, enabled=units)


def _learnt(example: Example) -> int:
    return len(example.tokens) - example.answer_from


def _share(done: float) -> float:
    """Of the learning rate, after a share of the course: a short rise, then a cosine."""
    cosine = (1 + math.cos(math.pi * min(done, 1))) / 2
    return _LEAST + (1 - _LEAST) * min(1, done / _WARM_UP) * cosine


def _batches(lessons: Lessons, course: Course, epoch: int) -> Iterator[list[Example]]:
    """All examples once; those of a batch are about as long, as they are padded to one length."""
    chance = Random(f"{course.seed} {epoch}")
    held: list[Example] = []
    size = 0
    for example in lessons.examples(seed=chance.randrange(1 << 32)):
        held.append(example)
        size += _learnt(example)
        if size >= _SORTED * course.batch:
            yield from _cut(held, course.batch, chance)
            held, size = [], 0
    yield from _cut(held, course.batch, chance)


def _cut(examples: list[Example], size: int, chance: Random) -> list[list[Example]]:
    batches: list[list[Example]] = []
    filled = size
    for example in sorted(examples, key=lambda example: len(example.tokens)):
        if filled >= size:
            batches.append([])
            filled = 0
        batches[-1].append(example)
        filled += _learnt(example)
    chance.shuffle(batches)
    return batches


def _weights(network: nn.Module) -> dict[str, torch.Tensor]:
    """A copy of what learns."""
    return {
        name: weight.detach().clone()
        for name, weight in network.named_parameters()
        if weight.requires_grad
    }


def _save(path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, stand: _Stand) -> None:
    held = {
        "weights": _weights(network),
        "optimizer": optimizer.state_dict(),
        "chance": torch.get_rng_state(),
        "epoch": stand.epoch,
        "step": stand.step,
        "tokens": stand.tokens,
        "seconds": stand.seconds,
        "alphas": [(alpha.greedy, alpha.sampled, alpha.judged) for alpha in stand.alphas],
        "best": stand.best,
    }
    file = io.BytesIO()
    torch.save(held, file)
    write_whole(path, file.getvalue())


def _resume(path: Path, network: nn.Module, optimizer: torch.optim.Optimizer) -> _Stand:
    if not path.exists():
        return _Stand()
    held: dict[str, Any] = torch.load(path, weights_only=True)
    network.load_state_dict(held["weights"], strict=False)
    optimizer.load_state_dict(held["optimizer"])
    torch.set_rng_state(held["chance"])
    return _Stand(
        held["epoch"],
        held["step"],
        held["tokens"],
        held["seconds"],
        [Alpha(*alpha) for alpha in held["alphas"]],
        held["best"],
    )
