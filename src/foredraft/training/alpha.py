"""How often drafts are accepted, judged on texts that were not learnt from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import torch

_LIKELIEST = 0.95
"""A text of which so many tokens are the likeliest was written at temperature 0: rounding makes
another of a few."""
_OTHERWISE = 1e-6
"""What a text counts for at the temperature that it was not written at: it decides only where there
is none of the right kind."""


@dataclass(frozen=True, slots=True)
class Alpha:
    """The acceptance rate of the first, second … drafted token, given that those before it were
    accepted: of likeliest tokens at temperature 0, and of drawn ones at temperature 1.

    A head whose accepted drafts are the text's own tokens drafts from that text as it learns from
    it, so one pass over a text judges drafts from each of its places.
    """

    greedy: tuple[float, ...]
    sampled: tuple[float, ...]
    judged: int

    @property
    def length(self) -> float:
        """Tokens accepted of a long draft, the mean of both temperatures."""
        return (_length(self.greedy) + _length(self.sampled)) / 2


def _length(rates: Sequence[float]) -> float:
    total, reached = 0.0, 1.0
    for rate in rates:
        reached *= rate
        total += reached
    return total


@dataclass(frozen=True, slots=True)
class Drafted:
    """One drafting step over a text, [rows] each: the text's own next token's p and q, whether it
    is the target's likeliest, whether draft and target agree on the likeliest, and Σ min(p, q)."""

    p: torch.Tensor
    q: torch.Tensor
    likeliest: torch.Tensor
    agrees: torch.Tensor
    overlap: torch.Tensor

    @classmethod
    def of(cls, p: torch.Tensor, q: torch.Tensor, tokens: torch.Tensor) -> Self:
        """From both laws [rows, V] of `tokens` [rows]."""
        best, own = p.argmax(1), tokens[:, None]
        return cls(
            p.gather(1, own)[:, 0],
            q.gather(1, own)[:, 0],
            best == tokens,
            best == q.argmax(1),
            torch.minimum(p, q).sum(1),
        )


def alpha(texts: Iterable[Sequence[Drafted]], steps: int) -> Alpha:
    """Of drafts of `steps` tokens from each place of each text.

    A place counts for step i with the chance that the text's tokens before it were drafted and
    accepted: min(1, q / p) each when drawn, since the text is a draw from p itself. A text written
    at temperature 0 says what happens there, the others what happens to drawn ones.
    """
    sums = torch.zeros(steps, 4, dtype=torch.float64)
    judged = 0
    for text in texts:
        greedy = float(text[0].likeliest.float().mean()) > _LIKELIEST
        kept = torch.full_like(text[0].p, 1 if greedy else _OTHERWISE)
        drawn = torch.full_like(text[0].p, _OTHERWISE if greedy else 1)
        judged += len(kept)
        for i, step in enumerate(text):
            kept, drawn = kept[: len(step.p)], drawn[: len(step.p)]
            sums[i] += torch.stack(
                [(kept * step.agrees).sum(), kept.sum(), (drawn * step.overlap).sum(), drawn.sum()]
            ).cpu()
            kept = kept * (step.agrees & step.likeliest)
            drawn = drawn * (step.q / step.p).clamp(max=1)
    rates = sums[:, ::2] / sums[:, 1::2].clamp(min=1e-12)
    return Alpha(tuple(rates[:, 0].tolist()), tuple(rates[:, 1].tolist()), judged)
