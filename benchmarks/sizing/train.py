"""Training a tiny draft on a target's answers: next-token cross-entropy, minutes on a processor."""

import math
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from foredraft.targets.base import Progress
from sizing.lessons import Batch, Lessons

_OTHERS = 2048
"""Tokens that never occur, other ones each step, that stand for all such in the softmax."""


def train(model: Any, lessons: Lessons, epochs: int, report: Progress) -> list[float]:
    """Train in place. Of each epoch: how often the likeliest token was the answer's own in answers
    kept back; the weights of the best epoch stay.

    The rows of tokens that never occur are left as they are.
    """
    embedding = model.get_input_embeddings().weight.data
    rows = torch.nn.Parameter(embedding[lessons.used])
    learnt = [rows, *model.model.layers.parameters(), *model.model.norm.parameters()]
    optimizer = torch.optim.AdamW(learnt, betas=(0.9, 0.95), weight_decay=0.01)
    steps, done = epochs * len(lessons.taught(0)), 0
    agreement: list[float] = []
    best: list[torch.Tensor] = []
    for epoch in range(epochs):
        for batch in lessons.taught(epoch):
            optimizer.param_groups[0]["lr"] = _rate(model.config.hidden_size, done / steps)
            hidden = _hidden(model, rows, batch)
            drawn = lessons.others[torch.randint(len(lessons.others), (_OTHERS,))]
            others = hidden @ embedding[drawn].T + math.log(len(lessons.others) / _OTHERS)
            loss = cross_entropy(torch.cat([hidden @ rows.T, others], 1), batch.labels)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learnt, 1.0)
            optimizer.step()
            done += 1
            report(f"Training, epoch {epoch + 1} of {epochs}", done, steps)
        agreement.append(_agreement(model, rows, lessons))
        if agreement[-1] == max(agreement):
            best = [weight.detach().clone() for weight in learnt]
    for weight, kept in zip(learnt, best, strict=True):
        weight.data.copy_(kept)
    embedding[lessons.used] = rows.data
    return agreement


def _rate(width: int, done: float) -> float:
    """The learning rate after a share of the steps: a short rise, then a cosine to nothing."""
    return 0.25 / width * min(1.0, 20 * done + 0.05) * (1 + math.cos(math.pi * done)) / 2


def _hidden(model: Any, rows: torch.Tensor, batch: Batch) -> torch.Tensor:
    """What the output rows are multiplied with, before each label [N, width]."""
    made = model.model(
        inputs_embeds=rows[batch.ids],
        attention_mask=batch.mask,
        position_ids=batch.positions,
        use_cache=False,
    )
    hidden: torch.Tensor = made.last_hidden_state.flatten(0, 1)[batch.places]
    return hidden


@torch.no_grad()
def _agreement(model: Any, rows: torch.Tensor, lessons: Lessons) -> float:
    right = count = 0
    for batch in lessons.judged():
        chosen = (_hidden(model, rows, batch) @ rows.T).argmax(1)
        right += int((chosen == batch.labels).sum())
        count += len(chosen)
    return right / count
