"""The target writing many texts at once: a text that ends makes room for the next."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

import torch

from foredraft.training.batch import Batch

_REFILL = 8
"""New texts are read when one in so many places is free: several share a pass."""
_LOOP = 32
"""So many tokens that repeat what stands less than that before them are a loop."""


@dataclass(frozen=True, slots=True)
class Job:
    """A text to write on from `prompt`, until the model ends it or `limit` tokens later.

    With the limit 0 it is only read. `min_p` leaves out tokens less likely than that share of the
    likeliest. What is learnt begins at token `answer_from`. If `then` is given, nothing is: it
    makes of the whole text the job that follows, or None.
    """

    prompt: list[int]
    limit: int
    answer_from: int = 0
    temperature: float = 0.0
    min_p: float = 0.0
    then: Callable[[list[int]], "Job | None"] | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """What became of a job: all its tokens, and the hidden states at each [n, width]."""

    tokens: list[int]
    answer_from: int
    hidden: torch.Tensor


class _Live:
    """A text that is being written: its tokens, of which `read` are in the batch."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.tokens = list(job.prompt)
        self.read = len(job.prompt) - 1

    def ended(self, ends: frozenset[int]) -> bool:
        written = self.tokens[len(self.job.prompt) :]
        return (
            len(written) == self.job.limit
            or (len(written) > 0 and written[-1] in ends)
            or _turns_round(written)
        )

    def goes_on(self, job: Job) -> bool:
        """Take a job over whose prompt begins with this text: all of it is read already."""
        if job.prompt[: self.read] != self.tokens:
            return False
        self.job, self.tokens = job, list(job.prompt)
        return True


def write(
    batch: Batch, size: int, jobs: Iterator[Job], ends: frozenset[int], seed: int
) -> Generator[Text, None, None]:
    """Texts as they end.

    The last token of a text is read too, so that there are hidden states for every token.
    """
    chance = torch.Generator().manual_seed(seed)
    live: list[_Live] = []
    waiting: deque[Job] = deque()
    while True:
        free = size - len(live)
        if not live or free >= max(1, size // _REFILL):
            new = [_Live(job) for job in _next(waiting, jobs, free)]
            batch.add([one.tokens[: one.read] for one in new])
            live += new
        if not live:
            return
        logits = batch.step([one.tokens[one.read] for one in live])
        rows = list(range(len(live)))
        for place in reversed(range(len(live))):
            one = live[place]
            one.read += 1
            if one.read < len(one.tokens) or not one.ended(ends):
                continue
            if one.job.then is not None:
                following = one.job.then(one.tokens)
                if following is not None and one.goes_on(following):
                    continue
                if following is not None:
                    waiting.append(following)
            else:
                yield Text(one.tokens, one.job.answer_from, batch.hidden(place))
            batch.drop(place)
            live[place], rows[place] = live[-1], rows[-1]
            live.pop()
            rows.pop()
        open_ = [i for i, one in enumerate(live) if one.read == len(one.tokens)]
        chosen = _choose(logits[[rows[i] for i in open_]], [live[i].job for i in open_], chance)
        for i, token in zip(open_, chosen, strict=True):
            live[i].tokens.append(token)


def _next(waiting: deque[Job], jobs: Iterator[Job], count: int) -> list[Job]:
    taken = [waiting.popleft() for _ in range(min(count, len(waiting)))]
    return taken + [job for _, job in zip(range(count - len(taken)), jobs, strict=False)]


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
        found = torch.searchsorted(below, drawn, right=True)[:, 0]
        chosen[sampled] = found.clamp(max=p.shape[1] - 1)
    tokens: list[int] = chosen.tolist()
    return tokens
