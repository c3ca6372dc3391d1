"""What a draft model or head would have proposed in known answers, and what asking it costs."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from statistics import median

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.drafters.base import Drafter
from foredraft.drafters.head import HeadDrafter
from foredraft.engine.replay import Pass
from foredraft.planner.answers import Answer
from foredraft.planner.temperatures import HeardSequence
from foredraft.targets.base import Target

_AGAIN = 6


LONGEST = 8
"""The longest draft that is looked at."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A draft model or head beside one answer: `right[i]` says how many of the tokens that it
    drafts from output token i on are the answer's, and `right_at[t][i]` how many are what the
    target would draw there at temperature t.

    That prices every draft length at once. `open_s` is reading the prompt, `token_s[γ − 1]` a
    drafted token of γ, `reread_s` what a round costs more after one that was kept whole, whose
    last token the draft has not read.
    """

    right: list[int]
    open_s: float
    token_s: list[float]
    reread_s: float
    right_at: dict[float, list[int]] = field(default_factory=dict)


def follow(
    drafter: Drafter, answer: Answer, params: SamplingParams, seed: int, eos: frozenset[int]
) -> Followed:
    """Ask a draft model for one token at every position of an answer, with the answer's own noise.

    One will do: a draft's token is judged only if all before it were the text's own, so what the
    model saw then is the text.
    """
    sequence = HeardSequence(answer.prompt, params, Noise(seed, True), eos)
    right: list[bool] = []
    right_at: dict[float, list[bool]] = {temperature: [] for temperature in answer.drawn}
    spent = []
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
    return Followed(
        runs(right),
        max(0.0, spent[0] - token_s),
        [token_s] * LONGEST,
        reread_s,
        {temperature: runs(those) for temperature, those in right_at.items()},
    )


def follow_head(
    target: Target,
    drafter: HeadDrafter,
    answer: Answer,
    params: SamplingParams,
    seed: int,
    eos: frozenset[int],
) -> Followed:
    """Ask a head for a whole draft at every position: beyond the first token it reads its own
    hidden states in the place of the target's, so that one token would say too much."""
    sequence = HeardSequence(answer.prompt, params, Noise(seed, True), eos)
    sequence.cached = target.open()
    target.prefill(sequence.cached, answer.prompt + answer.output)
    right: list[int] = []
    right_at: dict[float, list[int]] = {temperature: [] for temperature in answer.drawn}
    spent = []
    for place in range(len(answer.output)):
        begun = time.perf_counter()
        draft = drafter.propose(sequence, LONGEST)
        spent.append(time.perf_counter() - begun)
        ahead = answer.output[place:]
        right.append(_agreeing(draft.tokens, ahead, ahead))
        for temperature, drawn in answer.drawn.items():
            sequence.params = replace(params, temperature=temperature)
            draft = drafter.propose(sequence, LONGEST)
            right_at[temperature].append(_agreeing(draft.tokens, drawn[place:], ahead))
        sequence.params = params
        sequence.tokens.append(answer.output[place])
    drafter.close(sequence)
    usual_s = median(spent[1:] or spent)
    passes = [drafter.passes(length) for length in range(1, LONGEST + 1)]
    pass_s = usual_s / passes[-1]
    token_s = [count * pass_s / length for length, count in enumerate(passes, 1)]
    return Followed(right, max(0.0, spent[0] - usual_s), token_s, 0.0, right_at)


def _agreeing(drafted: Sequence[int], drawn: Sequence[int], text: Sequence[int]) -> int:
    """How many drafted tokens are those drawn; only along the text is known what is drawn next."""
    count = 0
    for token, wanted, next_ in zip(drafted, drawn, text, strict=False):
        if token != wanted:
            break
        count += 1
        if token != next_:
            break
    return count


def runs(right: Sequence[bool]) -> list[int]:
    """For each place, how many follow in a row that are right."""
    found, run = [], 0
    for one in reversed(right):
        run = run + 1 if one else 0
        found.append(run)
    return found[::-1]


def _ask(drafter: Drafter, sequence: TextSequence) -> tuple[int | None, float]:
    begun = time.perf_counter()
    draft = drafter.propose(sequence, 1)
    return (draft.tokens[0] if len(draft) else None), time.perf_counter() - begun


def passes(right: Sequence[int], length: int, most: int) -> list[Pass]:
    """The passes in which an answer is written with `length` tokens drafted a round; `right` as in
    Followed."""
    made, done = [], 0
    while done < len(right):
        drafted = min(length, most - done - 1)
        kept = min(drafted, right[done])
        made.append(Pass(drafted, kept))
        done += kept + 1
    return made
