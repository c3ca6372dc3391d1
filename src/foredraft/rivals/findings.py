"""What a measurement of servers says: figures, speed-ups, and what a reader should know."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import geometric_mean, median
from typing import Any

import numpy as np

from foredraft.rivals.answer import Answer
from foredraft.rivals.bench import Bench
from foredraft.rivals.counters import Counts
from foredraft.rivals.pairs import OFF, ON, Run
from foredraft.rivals.prompts import Sample
from foredraft.rivals.ratios import speedup

VERSION = 1
_LEARNED = 1.05
"""From this ratio of later repeats to the first on, a server is said to remember."""
_STRAY = 1.02
"""From this ratio of tokens counted to tokens asked for, others are said to use the server."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A side's `n` answers: medians, the spread of the speed, and the 95th percentile of gaps."""

    n: int
    tokens_per_s: float | None
    low: float | None
    high: float | None
    first_s: float | None
    gap_s: float | None
    gap_p95_s: float | None


def figures(answers: Sequence[Answer]) -> Figures:
    """The figures of some answers; None where the server gave nothing to compute one from."""
    speeds = [a.tokens_per_s for a in answers if a.tokens_per_s is not None]
    firsts = [a.first_s for a in answers if a.first_s is not None]
    gaps = [gap for a in answers for gap in a.gaps]
    return Figures(
        n=len(answers),
        tokens_per_s=median(speeds) if speeds else None,
        low=min(speeds, default=None),
        high=max(speeds, default=None),
        first_s=median(firsts) if firsts else None,
        gap_s=median(gaps) if gaps else None,
        gap_p95_s=float(np.percentile(gaps, 95)) if gaps else None,
    )


@dataclass(frozen=True, slots=True)
class Row:
    """A prompt: both sides, and the ratios of its pairs, whose geometric mean is the speed-up."""

    prompt: str
    kind: str
    on: Figures
    off: Figures | None
    speedup: float | None
    low: float | None
    high: float | None


def rows(bench: Bench, samples: Sequence[Sample]) -> list[Row]:
    """The prompts that have been answered at least once, in their order."""
    by_prompt, found = bench.ratios(), []
    for sample in samples:
        runs = [run for run in bench.runs if run.prompt == sample.id]
        sides = {
            side: figures([run.answer for run in runs if run.side == side])
            for side in (ON, OFF)
            if side in bench.urls
        }
        if not runs:
            continue
        ratios = by_prompt.get(sample.id, [])
        gain = speedup({sample.id: ratios})
        found.append(
            Row(
                sample.id,
                sample.kind,
                sides[ON],
                sides.get(OFF),
                gain.value if gain else None,
                min(ratios, default=None),
                max(ratios, default=None),
            )
        )
    return found


def as_object(bench: Bench, samples: Sequence[Sample], setting: dict[str, Any]) -> dict[str, Any]:
    """The object of `--json` and `--out`; docs/bench.md describes it."""
    gain = speedup(bench.ratios())
    return {
        "version": VERSION,
        "complete": bench.error is None,
        "error": bench.error,
        **setting,
        "speedup": asdict(gain) if gain else None,
        "sides": {side: _side(bench, side) for side in bench.urls},
        "prompts": [asdict(row) for row in rows(bench, samples)],
        "parity": None if bench.parity is None else [asdict(p) for p in bench.parity],
        "notes": list(notes(bench)),
        "runs": [_run(run) for run in bench.runs],
    }


def _side(bench: Bench, side: str) -> dict[str, Any]:
    generated = bench.generated(side)
    return {
        "url": bench.urls[side],
        **asdict(figures(bench.answers(side))),
        "generated": generated,
        "counters": [_counters(counts, generated) for counts in bench.counts(side)],
    }


def _counters(counts: Counts, generated: int | None) -> dict[str, Any]:
    return asdict(counts) | {
        "acceptance_rate": counts.acceptance_rate,
        "accepted_of_drafted": counts.accepted_of_drafted,
        "tokens_per_target_pass": counts.tokens_per_pass(generated),
    }


def _run(run: Run) -> dict[str, Any]:
    speed = {"tokens_per_s": run.answer.tokens_per_s}
    return (
        {"prompt": run.prompt, "repeat": run.repeat, "side": run.side} | asdict(run.answer) | speed
    )


def notes(bench: Bench) -> Iterator[str]:
    """What a reader must know to trust the figures, a sentence each."""
    for side, url in bench.urls.items():
        answers, counts = bench.answers(side), bench.counts(side)
        if not answers:
            continue
        if all(answer.tokens is None for answer in answers):
            yield f"{url} does not count its tokens, so its speed is unknown."
        drafted = counts[0].drafted if counts else None
        if side == OFF and drafted:
            yield f"{url} drafted {drafted} tokens as the plain side, so it is no baseline."
        elif side == ON and not counts:
            yield f"{url} shows no counters of drafted tokens, so it may not have drafted at all."
        elif side == ON and drafted == 0:
            yield f"{url} drafted nothing: it does not speculate, or found nothing to draft."
        yield from _strangers(bench, side)
    yield from _memory(bench)


def _strangers(bench: Bench, side: str) -> Iterator[str]:
    if side not in bench.totals:
        return
    shared = OFF in bench.urls and OFF not in bench.totals
    asked = [bench.generated(one) for one in ((ON, OFF) if shared else (side,))]
    if None in asked:
        return
    if bench.totals[side].generated > _STRAY * sum(n for n in asked if n is not None):
        yield f"{bench.urls[side]} answered others meanwhile, which makes its times longer."


def _memory(bench: Bench) -> Iterator[str]:
    """Whether later repeats gained more than the first for sure, as after texts that were kept."""
    by_prompt = {prompt: found for prompt, found in bench.ratios().items() if len(found) > 1}
    rise = speedup({p: [geometric_mean(found[1:]) / found[0]] for p, found in by_prompt.items()})
    if rise is None or rise.low is None or rise.low < _LEARNED:
        return
    first = speedup({prompt: found[:1] for prompt, found in by_prompt.items()})
    assert first is not None
    yield (
        f"The first repeat gained {first.value:.2f}x and later ones {rise.value:.2f} times that: "
        "the server remembers texts that it has answered, and only the first repeat is new to it."
    )
