"""The target writing many texts at once: a text that ends makes room for the next."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from foredraft.training.batch import Batch

_REFILL = 8
"""New texts are read when one in so many places is free: several share a pass."""

_LOOP = 32
"""So many tokens that repeat what stands less than that before them are a loop."""


@dataclass(frozen=True, slots=True)
class Job:
    """A text to write on from `prompt`, until the model ends it or `limit` tokens later.

    With the limit 0 it is only read. What is learnt begins at token `answer_from`, None if nothing
    is. `min_p` leaves out tokens less likely than that share of the likeliest.
    """

    prompt: list[int]
    limit: int
    answer_from: int | None = None
    temperature: float = 0.0
    min_p: float = 0.0


@dataclass(frozen=True, slots=True)
class Text:
    """What became of a job: all its tokens, and the hidden states at each [n, width]."""

    job: Job
    tokens: list[int]
    hidden: torch.Tensor


@dataclass(slots=True)
class _Live:
    job: Job
    tokens: list[int] = field(default_factory=list)

    def ended(self, ends: frozenset[int]) -> bool:
        written = self.tokens[len(self.job.prompt) :]
        return (
            len(written) == self.job.limit
            or (len(written) > 0 and written[-1] in ends)
            or _turns_round(written)
        )


def write(
    batch: Batch, size: int, jobs: Iterator[Job], ends: frozenset[int], seed: int
) -> Iterator[Text]:
    """Texts as they end. `jobs` is asked whenever there is room, so it may depend on them.

    The last token of a text is read too, so that there are hidden states for every token.
    """
    chance = torch.Generator().manual_seed(seed)
    live: list[_Live] = []
    while True:
        free = size - len(live)
        if not live or free >= max(1, size // _REFILL):
            new = [_Live(job, list(job.prompt)) for _, job in zip(range(free), jobs, strict=False)]
            batch.add([one.tokens[:-1] for one in new])
            live += new
        if not live:
            return
        logits = batch.step([one.tokens[-1] for one in live])
        order = list(range(len(live)))
        for place in reversed(range(len(live))):
            if live[place].ended(ends):
                one = live[place]
                live[place], order[place] = live[-1], order[-1]
                live.pop()
                order.pop()
                yield Text(one.job, one.tokens, batch.drop(place))
        if live:
            chosen = _choose(logits[order], [one.job for one in live], chance)
            for one, token in zip(live, chosen, strict=True):
                one.tokens.append(token)


def _turns_round(tokens: list[int]) -> bool:
    """Whether a text has begun to say the same again and again, from which nothing is learnt."""
    last = tokens[-_LOOP:]
    return len(tokens) >= 2 * _LOOP and any(
        last == tokens[-_LOOP - period : -period] for period in range(1, _LOOP)
    )


def _choose(logits: torch.Tensor, jobs: list[Job], chance: torch.Generator) -> list[int]:
    """The next token of each text by its own temperature."""
    chosen = logits.argmax(1).cpu()
    sampled = torch.tensor([i for i, job in enumerate(jobs) if job.temperature > 0])
    if len(sampled):
        heat = torch.tensor([[jobs[i].temperature] for i in sampled.tolist()])
        least = torch.tensor([[jobs[i].min_p] for i in sampled.tolist()])
        p = (logits[sampled].cpu() / heat).softmax(1)
        p[p < least * p.amax(1, keepdim=True)] = 0
        # By the cumulative sum: torch.multinomial draws a random number for every token there is.
        below = p.cumsum(1)
        drawn = torch.rand(len(sampled), 1, generator=chance) * below[:, -1:]
        chosen[sampled] = torch.searchsorted(below, drawn, right=True)[:, 0].clamp(
            max=p.shape[1] - 1
        )
    tokens: list[int] = chosen.tolist()
    return tokens
