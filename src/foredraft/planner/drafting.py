"""What a draft model or head would have proposed in known answers, and what asking it costs."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile, zip_longest
from statistics import median

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.drafters.base import CostlyDrafter
from foredraft.drafters.head import HeadDrafter
from foredraft.engine.replay import Pass
from foredraft.planner.answers import Answer
from foredraft.planner.temperatures import HeardSequence
from foredraft.targets.base import Target

DEEPEST = 8
"""The longest draft that is looked at."""
_AGAIN = 6


@dataclass(frozen=True, slots=True)
class Followed:
    """A draft beside one answer: `runs[i]` says how many tokens, drafted at output token i, are the
    text's own, and `runs_at[t][i]` how many at temperature t what the target would draw there.

    That prices every draft length at once. `open_s` is reading the prompt, `pass_s` one drafting
    pass, `reread_s` what a round costs more after one that was kept whole, whose last token the
    draft has not read.
    """

    runs: list[int]
    open_s: float
    pass_s: float
    reread_s: float
    runs_at: dict[float, list[int]] = field(default_factory=dict)


def follow(
    target: Target, drafter: CostlyDrafter, answer: Answer, params: SamplingParams, seed: int
) -> Followed:
    """Ask a drafter at every position of an answer, with the answer's own noise.

    A draft model for one token: one that is judged had only the text's own before it, so what it
    would see then is the text. A head goes by what it drafted itself, so it drafts on; at other
    temperatures its first token is looked at, and the next are taken to be as right as they were.
    """
    sequence = HeardSequence(answer.prompt, params, Noise(seed, True), target.tokenizer.eos_ids)
    again = [answer.output[i % len(answer.output)] for i in range(2 * _AGAIN)]
    reach = 1
    if isinstance(drafter, HeadDrafter):
        reach = min(DEEPEST, drafter.reach or DEEPEST)
        sequence.cached = target.open()
        target.prefill(sequence.cached, [*answer.prompt, *answer.output, *again])
    runs, spent = [], []
    right_at: dict[float, list[bool]] = {temperature: [] for temperature in answer.drawn}
    for place, token in enumerate(answer.output):
        drafted, seconds = _ask(drafter, sequence, reach)
        runs.append(_shared(drafted, answer.output[place:]))
        if right_at and reach > 1:
            drafted, _ = _ask(drafter, sequence, 1)
        others = sequence.draw(list(right_at)) if drafted else []
        for (temperature, drawn), other in zip_longest(answer.drawn.items(), others):
            right_at[temperature].append(other == drawn[place])
        spent.append(seconds)
        sequence.tokens.append(token)
    usual_s = median(spent[1:] or spent)
    twice = []
    for i in range(_AGAIN):
        sequence.tokens += again[2 * i : 2 * i + 2]
        twice.append(_ask(drafter, sequence, reach)[1])
    drafter.close(sequence)
    # The first of them still had the answer's last token to read.
    reread_s = max(0.0, median(twice[1:]) - usual_s)
    open_s, pass_s = max(0.0, spent[0] - usual_s), usual_s / max(1, drafter.passes(reach))
    if reach == 1:
        runs = in_a_row([run > 0 for run in runs])
        runs_at = {temperature: in_a_row(right) for temperature, right in right_at.items()}
    else:
        runs_at = {
            temperature: [max(1, run) if one else 0 for one, run in zip(right, runs, strict=True)]
            for temperature, right in right_at.items()
        }
    return Followed(runs, open_s, pass_s, reread_s, runs_at)


def _ask(drafter: CostlyDrafter, sequence: TextSequence, tokens: int) -> tuple[list[int], float]:
    begun = time.perf_counter()
    draft = drafter.propose(sequence, tokens)
    return list(draft.tokens), time.perf_counter() - begun


def _shared(drafted: Sequence[int], text: Sequence[int]) -> int:
    pairs = zip(drafted, text, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def in_a_row(right: Sequence[bool]) -> list[int]:
    """From each place on, how many are right one after the other."""
    runs: list[int] = []
    for one in reversed(right):
        runs.append(1 + (runs[-1] if runs else 0) if one else 0)
    return runs[::-1]


def passes(runs: Sequence[int], length: int, most: int) -> list[Pass]:
    """The passes in which an answer is written with `length` tokens drafted a round."""
    made, done = [], 0
    while done < len(runs):
        drafted = min(length, most - done - 1)
        kept = min(drafted, runs[done])
        made.append(Pass(drafted, kept))
        done += kept + 1
    return made
