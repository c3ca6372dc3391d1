"""A measurement of servers from outside, whole or as far as it came."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from foredraft.core.errors import ForedraftError
from foredraft.rivals.answer import Answer
from foredraft.rivals.counters import Counts, total
from foredraft.rivals.openai import Question, Server
from foredraft.rivals.pairs import OFF, ON, Run, alternate, paired
from foredraft.rivals.parity import Parity, judge
from foredraft.rivals.prometheus import Totals
from foredraft.rivals.prompts import Sample

INTERRUPTED = "interrupted"
_WARM_UP = 4
"""Tokens of the request that wakes a side before anything is timed."""

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Bench:
    """What was measured of the sides `on` and `off`, or of `on` alone; grows while it is.

    `urls` says where each side is. `totals` are what its server counted meanwhile at /metrics; a
    server that is both sides has them under `on`. `parity` is None unless it was looked for.
    `error` says what ended it early, and is None if nothing did.
    """

    urls: dict[str, str]
    runs: list[Run] = field(default_factory=list)
    totals: dict[str, Totals] = field(default_factory=dict)
    parity: list[Parity] | None = None
    error: str | None = None

    def answers(self, side: str) -> list[Answer]:
        """A side's answers, in the order in which they came."""
        return [run.answer for run in self.runs if run.side == side]

    def generated(self, side: str) -> int | None:
        """The tokens of a side's answers; None where one was not counted."""
        counted = [answer.tokens for answer in self.answers(side)]
        return None if None in counted else sum(n for n in counted if n is not None)

    def counts(self, side: str) -> list[Counts]:
        """What a side's engine counted, once for each place where it tells."""
        told = total(a.counts for a in self.answers(side) if a.counts is not None)
        page = self.totals[side].counts() if side in self.totals else None
        return [counts for counts in (told, page) if counts is not None]

    def ratios(self) -> dict[str, list[float]]:
        """prompt → tokens/s on / tokens/s off of each of its pairs in which both are known."""
        found: dict[str, list[float]] = {}
        for on, off in paired(self.runs):
            speeds = on.answer.tokens_per_s, off.answer.tokens_per_s
            if speeds[0] and speeds[1]:
                found.setdefault(on.prompt, []).append(speeds[0] / speeds[1])
        return found


def measure(
    sides: Mapping[str, Server],
    samples: Sequence[Sample],
    question: Question,
    repeats: int,
    progress: Progress,
) -> Bench:
    """Ask both sides everything; what is measured when a server fails or Ctrl-C comes is kept.

    ForedraftError only before the first measurement: a side that cannot answer at all.
    """
    warm = Question(samples[0].messages, _WARM_UP)
    for server in sides.values():
        progress(f"Waking {server.url}", 0, 1)
        server.ask(warm)
    bench = Bench({side: server.url for side, server in sides.items()})
    due = len(sides) * len(samples) * repeats
    one = len(set(bench.urls.values())) == 1
    counting = {ON: sides[ON]} if one else sides
    before = {side: server.totals() for side, server in counting.items()}
    try:
        for run in alternate(sides, samples, question, repeats):
            bench.runs.append(run)
            progress("Asking", len(bench.runs), due)
        for side, server in counting.items():
            start, end = before[side], server.totals()
            if start is not None and end is not None:
                bench.totals[side] = end.since(start)
        if OFF in sides and question.temperature == 0:
            bench.parity = []
            for done, sample in enumerate(samples, 1):
                bench.parity.append(_parity(bench.runs, sample, sides[OFF], question))
                progress("Comparing texts", done, len(samples))
    except ForedraftError as error:
        bench.error = str(error)
    except KeyboardInterrupt:
        bench.error = INTERRUPTED
    return bench


def _parity(runs: Sequence[Run], sample: Sample, off: Server, question: Question) -> Parity:
    """A prompt's verdict from the first pair that differs; only then the off side is asked again,
    for its log-probabilities."""
    pairs = [(on.answer, off.answer) for on, off in paired(runs) if on.prompt == sample.id]
    differing = (pair for pair in pairs if pair[0].text != pair[1].text)
    on, plain = next(differing, pairs[0])
    others = [answer.text for _, answer in pairs]
    again = None
    if on.text != plain.text:
        took = (plain.first_s or 0) + plain.decode_s
        again = off.explain(Question(sample.messages, question.tokens), patience=3 * took)
    if again is not None:
        others.append(again.text)
    return judge(sample.id, on.text, plain.text, others, again.tokens if again else ())
