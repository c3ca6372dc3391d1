"""A recorded generation under other settings: every draft length of every lookup, priced."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.speedup import expected_tokens
from foredraft.core.tree import followed
from foredraft.drafters.base import Drafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.prices import Prices
from foredraft.engine.trace import Trace

LENGTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16)


@dataclass(frozen=True, slots=True)
class Pass:
    """One target pass over a known text: how much was drafted, and how much of it was the text."""

    drafted: int
    kept: int

    @property
    def rows(self) -> int:
        return 1 + self.drafted


@dataclass(frozen=True, slots=True)
class Replayed:
    """A setting and what the recorded text would have taken with it.

    `estimated`: by α alone, as a model's other drafts are not in the trace.
    """

    drafter: str
    draft_len: int
    seconds: float
    passes: float
    speedup: float
    estimated: bool = False


def replay(trace: Trace) -> list[Replayed]:
    """Every setting, fastest first; the text is the same under all of them, so only time differs.

    The row "recorded" prices the rounds as they were, with the time drafting took. Prices are
    those of the trace.
    """
    prices = Prices.from_dict(trace.prices, None)
    output = trace.output
    plain = len(output) * prices.verify(1)

    def row(drafter: str, length: int, rows: Sequence[int], extra: float = 0.0) -> Replayed:
        seconds = sum(prices.verify(count) for count in rows) + extra
        return Replayed(drafter, length, seconds, len(rows), plain / seconds)

    found = [row("none", 0, [1] * len(output))]
    for make in (NgramDrafter, SuffixDrafter):
        for length in LENGTHS:
            drafter: Drafter = make()
            made = passes(drafter, length, trace.prompt, output, len(output))
            found.append(row(drafter.name, length, [one.rows for one in made]))
    asked = [done for done in trace.rounds if done["source"] == "model"]
    if asked:
        found += _by_acceptance(asked, prices, len(output))
    drafting = sum(done["draft_s"] for done in trace.rounds)
    counts = [1 + len(done["drafted"]) for done in trace.rounds]
    found.append(row("recorded", 0, counts, drafting))
    return sorted(found, key=lambda setting: setting.seconds)


def passes(
    drafter: Drafter,
    length: int,
    prompt: Sequence[int],
    output: Sequence[int],
    most: int,
    drawn: Sequence[int] | None = None,
) -> list[Pass]:
    """The passes in which a free drafter of `length` tokens a round writes a known text.

    `most` is how long the text might have become, which the engine never drafts beyond; `drawn`
    is what drafts are judged by at each place, where that is not the text itself.
    """
    sequence = TextSequence(prompt, SamplingParams(), Noise(0, True))
    made, done = [], 0
    while done < len(output):
        draft = drafter.propose(sequence, min(length, most - done - 1))
        kept = sum(taken for _, taken in followed(draft, (drawn or output)[done:]))
        made.append(Pass(len(draft), kept))
        sequence.tokens += output[done : done + kept + 1]
        done += kept + 1
    drafter.close(sequence)
    return made


def _by_acceptance(asked: Sequence[dict[str, Any]], prices: Prices, tokens: int) -> list[Replayed]:
    """A model's fixed lengths, from the α its recorded drafts had and the price of a token."""
    accepted = judged = 0
    for done in asked:
        accepted += done["accepted"]
        judged += done["accepted"] + (done["accepted"] < len(done["drafted"]))
    alpha, found = accepted / max(1, judged), []
    for length in LENGTHS:
        rounds = tokens / expected_tokens(alpha, length)
        seconds = rounds * (length * prices.draft("model") + prices.verify(1 + length))
        speedup = tokens * prices.verify(1) / seconds
        found.append(Replayed("model", length, seconds, rounds, speedup, True))
    return found
