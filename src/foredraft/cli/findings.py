"""What a person sees of a measurement of servers."""

from collections.abc import Iterator, Sequence

import typer

from foredraft.cli.table import print_table
from foredraft.rivals.bench import Bench
from foredraft.rivals.counters import Counts
from foredraft.rivals.findings import Row, figures, notes, rows
from foredraft.rivals.http import said
from foredraft.rivals.pairs import OFF, ON
from foredraft.rivals.parity import Parity, Verdict
from foredraft.rivals.prompts import Sample
from foredraft.rivals.ratios import speedup

_UNKNOWN = "–"


def show(bench: Bench, samples: Sequence[Sample], model: str | None) -> None:
    """The figures a prompt in a table, then what they amount to, in words."""
    found = rows(bench, samples)
    if not found:
        return
    from rich.markup import escape

    both = OFF in bench.urls
    columns = ["prompt", *(("off", "on", "speed-up", "repeats") if both else ("tok/s",))]
    print_table(
        [*columns, "first s", "gap ms", "95 %"],
        ([escape(said(row.prompt)), *_cells(row)] for row in found),
    )
    for line in (f"{model or 'The model'} on {bench.urls[ON]}", *_sides(bench), *_gain(bench)):
        typer.echo(line)
    for line in _texts(bench.parity):
        typer.echo(line)
    for note in notes(bench):
        typer.echo(f"Note: {note}")
    if bench.error is not None:
        typer.echo(f"Partial: {len(bench.runs)} answers were measured before it ended.")


def _cells(row: Row) -> Iterator[str]:
    if row.off is not None:
        yield _number(row.off.tokens_per_s)
    yield _number(row.on.tokens_per_s)
    if row.off is not None:
        yield _times(row.speedup)
        yield _UNKNOWN if row.low is None or row.high is None else f"{row.low:.2f}–{row.high:.2f}"
    yield _number(row.on.first_s, ".2f")
    yield _number(row.on.gap_s, ".0f", 1000)
    yield _number(row.on.gap_p95_s, ".0f", 1000)


def _sides(bench: Bench) -> Iterator[str]:
    for side in reversed(bench.urls):
        of = figures(bench.answers(side))
        name = side if OFF in bench.urls else "all"
        yield (
            f"{name:4} {_number(of.tokens_per_s)} tok/s ({_number(of.low)}–{_number(of.high)}), "
            f"first token after {_number(of.first_s, '.2f')} s, between pieces "
            f"{_number(of.gap_s, '.0f', 1000)} ms (95 % under {_number(of.gap_p95_s, '.0f', 1000)} "
            f"ms), n = {of.n}"
        )
        for counts in bench.counts(side)[:1]:
            yield f"     {_counted(counts, bench.generated(side))}"


def _counted(counts: Counts, generated: int | None) -> str:
    if not counts.drafted:
        return f"nothing drafted ({counts.source})"
    parts = [f"{counts.drafted} drafted, {counts.accepted} accepted, rejected and ignored untold"]
    if counts.rejected is not None:
        parts = [
            f"{counts.drafted} drafted = {counts.accepted} accepted + {counts.rejected} rejected + "
            f"{counts.ignored} ignored"
        ]
    if counts.acceptance_rate is not None:
        parts.append(f"α {counts.acceptance_rate:.2f}")
    if counts.accepted_of_drafted is not None:
        parts.append(f"accepted / drafted {counts.accepted_of_drafted:.2f}")
    if (per_pass := counts.tokens_per_pass(generated)) is not None:
        parts.append(f"{per_pass:.2f} tokens/pass")
    return f"{'; '.join(parts)} ({counts.source})"


def _gain(bench: Bench) -> Iterator[str]:
    gain = speedup(bench.ratios())
    if gain is None:
        return
    what = "the prompts" if len(bench.ratios()) > 1 else "the repeats"
    line = f"Speed-up {gain.value:.2f}x, geometric mean over {what}, n = {gain.n}"
    if gain.low is None or gain.high is None:
        yield f"{line}; one alone has no interval."
        return
    line += f", 95 % interval {gain.low:.2f}–{gain.high:.2f}"
    if gain.low <= 1 <= gain.high:
        yield f"{line}: no difference shown."
    else:
        yield f"{line}: speculation {'pays' if gain.low > 1 else 'slows it down'}."


def _texts(parity: Sequence[Parity] | None) -> Iterator[str]:
    if not parity:
        return
    same = sum(p.verdict is Verdict.SAME for p in parity)
    yield f"Texts: {same} of {len(parity)} the same with and without speculation."
    for one in parity:
        if one.verdict is not Verdict.SAME:
            yield f"  {_difference(one)}"


def _difference(one: Parity) -> str:
    place = f"character {one.character}" + (f", token {one.parting.token}" if one.parting else "")
    return f"{said(one.prompt)}, {place}: {one.on!r} for {one.off!r}, {_verdict(one)}."


def _verdict(one: Parity) -> str:
    match one.verdict:
        case Verdict.NEAR_TIE if one.parting:
            return f"a near tie (log-probabilities {one.parting.gap:.2f} apart)"
        case Verdict.DIFFERENT if one.parting:
            gap = "too unlikely to be listed"
            if one.parting.gap is not None:
                gap = f"{one.parting.gap:.2f} below the likeliest"
            return f"a real difference: {gap}, whose margin is {one.parting.margin:.2f}"
        case Verdict.UNSTEADY:
            return "where the text changes without speculation too"
    return "unexplained, as the server gives no log-probabilities there"


def _times(gain: float | None) -> str:
    if gain is None:
        return _UNKNOWN
    return f"{gain:.2f}x" if round(gain, 2) >= 1 else f"[red]{gain:.2f}x ↓[/red]"


def _number(value: float | None, form: str = ".1f", scale: float = 1) -> str:
    return _UNKNOWN if value is None else format(scale * value, form)
