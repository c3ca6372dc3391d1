"""`foredraft simulate`: the mathematics of speculation, without a model."""

import json
import math
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from foredraft.cli.plot import Curve, draw_speedups
from foredraft.cli.table import print_table
from foredraft.core.errors import ForedraftError
from foredraft.core.speedup import best_gamma, ceiling, expected_tokens, speedup
from foredraft.core.toy import chance_of, experiment
from foredraft.core.types import FloatArray
from foredraft.engine.replay import replay
from foredraft.engine.trace import Trace

_DOUBT = 1e-3
"""Below this chance the observed frequencies are said to stray from p."""

app = typer.Typer(
    no_args_is_help=True,
    help="The mathematics of speculation, without a model: is it exact, and what can it gain?",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
VerifyCurve = Annotated[
    str | None,
    typer.Option(
        help="What a target pass over 1, 2, 3 … rows costs, in plain steps, such as 1,1.4,1.7; "
        "without it a pass costs 1 however many rows it has.",
    ),
]


@app.command(
    epilog='Example: foredraft simulate acceptance --p "0.7 0.2 0.1" --q "0.1 0.2 0.7"',
)
def acceptance(
    p: Annotated[str, typer.Option(help="The target's probabilities.")] = ".40 .25 .15 .12 .08",
    q: Annotated[str, typer.Option(help="The draft's probabilities.")] = ".20 .40 .20 .10 .10",
    samples: Annotated[int, typer.Option(min=1, help="How many tokens to draft.")] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
    as_json: Json = False,
) -> None:
    """Draft one token from q, judge it against p, and count what comes out: it follows p.

    A draft x is kept with probability min(1, p(x)/q(x)); a refused one is
    replaced by a draw from what p has more of than q. So Σ min(p, q) =
    1 − TV(p, q) of the drafts are kept, and the output is distributed as p,
    however bad the draft.
    """
    target, draft = _law(p, "p"), _law(q, "q")
    if target.size != draft.size:
        raise ForedraftError(
            f"p has {target.size} probabilities and q has {draft.size}; they must be as many."
        )
    tally = experiment(target, draft, samples, seed)
    expected = math.fsum(np.minimum(target, draft))
    observed = tally.counts / samples
    if as_json:
        _print_json(
            {
                "expected_acceptance": expected,
                "acceptance_rate": tally.accepted / samples,
                "target": target.tolist(),
                "observed": observed.tolist(),
                "samples": samples,
            }
        )
        return
    columns = ("token", "target p", "draft q", "observed")
    print_table(
        columns,
        (
            [str(token), *(f"{value:.4f}" for value in values)]
            for token, values in enumerate(zip(target, draft, observed, strict=True))
        ),
    )
    typer.echo(
        f"Accepted {tally.accepted / samples:.2%} of {samples:,} drafted tokens; "
        f"1 − TV(p, q) predicts {expected:.2%}."
    )
    chance = chance_of(tally.counts, target)
    typer.echo(
        f"Observed follows p: drawn straight from p, {samples:,} tokens would stray at least this "
        f"far in {chance:.0%} of tries."
        if chance >= _DOUBT
        else f"Observed strays from p further than chance explains (odds {chance:.0e}); try "
        "another seed, and report it if that strays too."
    )


@app.command(
    "speedup",
    epilog="Example: foredraft simulate speedup --alpha 0.7,0.8 --cost 0.1 --gamma 2,4,8 "
    "--verify-curve 1,1.2,1.4 --plot speedup.png",
)
def speedups(
    alpha: Annotated[str, typer.Option(help="Acceptance rates α, a list.")] = "0.6,0.8",
    cost: Annotated[
        str, typer.Option(help="Cost ratios c (one draft token / one plain step), a list.")
    ] = "0.05,0.3",
    gamma: Annotated[str, typer.Option(help="Draft lengths γ, a list.")] = "1,2,5,8",
    verify_curve: VerifyCurve = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the curves to this file (.png, .svg, .pdf).")
    ] = None,
    as_json: Json = False,
) -> None:
    """How much faster than plain decoding, for lists of α, c and γ.

    A round emits (1 − α^(γ+1)) / (1 − α) tokens on average and costs γ·c for
    the drafts and v(γ+1) for the check, v being the verify curve. Below 1x
    speculation slows the target down.
    """
    alphas, costs = _numbers(alpha, "alpha"), _numbers(cost, "cost")
    gammas, curve = _whole(gamma, "gamma"), _curve(verify_curve)
    pairs = list(product(alphas, costs))
    gains = {(a, c): [speedup(a, c, g, curve) for g in gammas] for a, c in pairs}
    if plot is not None:
        longest = range(max(*gammas, 1) + 1)
        draw_speedups(
            plot,
            [
                Curve(f"α {a:g}, c {c:g}", [speedup(a, c, g, curve) for g in longest], gammas)
                for a, c in pairs
            ],
        )
    if as_json:
        _print_json(
            [
                {
                    "alpha": a,
                    "cost": c,
                    "gamma": g,
                    "expected_tokens": expected_tokens(a, g),
                    "speedup": gain,
                }
                for a, c in pairs
                for g, gain in zip(gammas, gains[a, c], strict=True)
            ]
        )
        return
    print_table(
        ("α", "c", *(f"γ = {g}" for g in gammas)),
        ([f"{a:g}", f"{c:g}", *map(_times, gains[a, c])] for a, c in pairs),
    )
    if any(gain < 1 for row in gains.values() for gain in row):
        typer.echo("↓ slower than plain decoding")
    if plot is not None:
        typer.echo(f"Wrote {plot}.")


@app.command(epilog="Example: foredraft simulate best --alpha 0.75 --cost 0.08")
def best(
    alpha: Annotated[float, typer.Option(help="Acceptance rate α, between 0 and 1.")],
    cost: Annotated[float, typer.Option(help="Cost ratio c: one draft token / one plain step.")],
    verify_curve: VerifyCurve = None,
    as_json: Json = False,
) -> None:
    """The draft length γ that gains most, and the most that any could gain.

    The ceiling is 1 / (1 − α): drafts that cost nothing. γ = 0 means do not
    speculate: no draft length is faster than plain decoding.
    """
    gamma, gain = best_gamma(alpha, cost, _curve(verify_curve))
    most = ceiling(alpha) if alpha < 1 else None
    limit = f"{most:.2f}x" if most else "unlimited"
    if as_json:
        _print_json(
            {"alpha": alpha, "cost": cost, "gamma": gamma, "speedup": gain, "ceiling": most}
        )
    elif gamma == 0:
        typer.echo(
            f"γ = 0, do not speculate: at α = {alpha:g} and c = {cost:g} no draft length is "
            f"faster than plain decoding (the ceiling, with free drafts, is {limit})."
        )
    else:
        typer.echo(
            f"γ = {gamma}: draft {gamma} token{'s'[: gamma > 1]} a round to decode {gain:.2f}x as "
            f"fast as without (the ceiling, with free drafts, is {limit})."
        )


@app.command(
    "replay", epilog='Example: foredraft run --trace t.json "…" && foredraft simulate replay t.json'
)
def replays(
    trace: Annotated[Path, typer.Argument(help="A file from `foredraft run --trace FILE`.")],
    as_json: Json = False,
) -> None:
    """What a recorded answer would have taken with every drafter and draft length.

    The text is the same under all of them, so the lookups are asked again and
    each pass is priced as it was measured. A model's other lengths are
    estimated from its acceptance rate.
    """
    recorded = Trace.read(trace)
    rows = replay(recorded)
    if as_json:
        _print_json([asdict(row) for row in rows])
        return
    print_table(
        ("drafter", "γ", "passes", "seconds", "over plain"),
        (
            [
                row.drafter + " (estimated)" * row.estimated,
                str(row.draft_len or "–"),
                f"{row.passes:.0f}",
                f"{row.seconds:.2f}",
                _times(row.speedup),
            ]
            for row in rows
        ),
    )
    typer.echo(
        f"{recorded.model}, {len(recorded.output)} tokens; recorded with --drafter "
        f"{recorded.drafter}."
    )


def _numbers(text: str, name: str) -> list[float]:
    """A list as people write it: separated by commas, spaces or both."""
    try:
        values = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        values = []
    if not values or not all(map(math.isfinite, values)):
        raise ForedraftError(f"--{name} is {text!r}; write numbers, such as 0.6,0.8.")
    return values


def _whole(text: str, name: str) -> list[int]:
    values = _numbers(text, name)
    if not all(value.is_integer() for value in values):
        raise ForedraftError(f"--{name} is {text!r}; write whole numbers, such as 1,2,5.")
    return [int(value) for value in values]


def _law(text: str, name: str) -> FloatArray:
    values = _numbers(text, name)
    if min(values) < 0:
        raise ForedraftError(f"--{name} has {min(values):g}; no probability is below 0.")
    total = math.fsum(values)
    if abs(total - 1) > 1e-6:
        raise ForedraftError(f"--{name} adds up to {total:g}; probabilities add up to 1.")
    return np.array(values) / total


def _curve(text: str | None) -> list[float] | None:
    if text is None:
        return None
    values = _numbers(text, "verify-curve")
    if abs(values[0] - 1) > 1e-6:
        raise ForedraftError(
            f"--verify-curve starts with {values[0]:g}; it must start with 1, the cost of one row."
        )
    return values


def _times(gain: float) -> str:
    return f"{gain:.2f}x" if gain >= 1 else f"[red]{gain:.2f}x ↓[/red]"


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, indent=2))
