"""What a draft model would have proposed in answers that are known, and what asking it costs."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from statistics import median

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.drafters.base import Drafter
from foredraft.engine.replay import Pass
from foredraft.planner.answers import Answer
from foredraft.planner.temperatures import HeardSequence

_AGAIN = 6


@dataclass(frozen=True, slots=True)
class Followed:
    """A draft model beside one answer: `right[i]` says whether it drafts output token i, and
    `right_at[t][i]` whether at temperature t it would draft what the target would draw there.

    That prices every draft length at once: a draft's token is judged only if all before it were
    the text's own, so what it saw then is the text. `open_s` is reading the prompt, `token_s` one
    drafted token, `reread_s` what a round costs more after one that was kept whole, whose last
    token the draft has not read.
    """

    right: list[bool]
    open_s: float
    token_s: float
    reread_s: float
    right_at: dict[float, list[bool]] = field(default_factory=dict)


def follow(
    drafter: Drafter, answer: Answer, params: SamplingParams, seed: int, eos: frozenset[int]
) -> Followed:
    """Ask a drafter for one token at every position of an answer, with the answer's own noise."""
    sequence = HeardSequence(answer.prompt, params, Noise(seed, True), eos)
    right, spent = [], []
    right_at: dict[float, list[bool]] = {temperature: [] for temperature in answer.drawn}
    for place, token in enumerate(answer.output):
        drafted, seconds = _ask(drafter, sequence)
        right.append(drafted == token)
        others = [] if drafted is None else sequence.draw(list(right_at))
        for (temperature, drawn), other in zip_longest(answer.drawn.items(), others):
            right_at[temperature].append(other == drawn[place])
        spent.append(seconds)
        sequence.tokens.append(token)
    token_s = median(spent[1:] or spent)
    twice = []
    for i in range(_AGAIN):
        sequence.tokens += [answer.output[i % len(answer.output)]] * 2
        twice.append(_ask(drafter, sequence)[1])
    drafter.close(sequence)
    # The first of them still had the answer's last token to read.
    reread_s = max(0.0, median(twice[1:]) - token_s)
    return Followed(right, max(0.0, spent[0] - token_s), token_s, reread_s, right_at)


def _ask(drafter: Drafter, sequence: TextSequence) -> tuple[int | None, float]:
    begun = time.perf_counter()
    draft = drafter.propose(sequence, 1)
    return (draft.tokens[0] if len(draft) else None), time.perf_counter() - begun


def passes(right: Sequence[bool], length: int, most: int) -> list[Pass]:
    """The passes in which an answer is written with `length` tokens drafted a round."""
    made, done = [], 0
    while done < len(right):
        drafted = min(length, most - done - 1)
        kept = 0
        while kept < drafted and done + kept < len(right) and right[done + kept]:
            kept += 1
        made.append(Pass(drafted, kept))
        done += kept + 1
    return made
