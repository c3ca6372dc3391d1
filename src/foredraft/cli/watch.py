"""`foredraft watch`: how a running server speculates, live."""

import json
from contextlib import closing
from dataclasses import asdict
from typing import Annotated

import typer

from foredraft.core.errors import ForedraftError
from foredraft.rivals.openai import Server
from foredraft.rivals.rates import Rates, Watch, counted, hint, rates

_UNKNOWN = "–"
_HEAD = ("tok/s", "each", "drafted", "accepted", "share", "tok/pass", "running", "by position")
_WIDTHS = (7, 7, 8, 8, 6, 8, 7)
_EVERY = 20
"""Rows after which the head is repeated."""


def watch(
    url: Annotated[
        str, typer.Argument(help="A foredraft serve, llama-server or vLLM.", metavar="URL")
    ],
    interval: Annotated[float, typer.Option(min=0.1, help="Seconds between readings.")] = 2.0,
    once: Annotated[
        bool, typer.Option("--once", metavar="", help="Print the counts since its start, and end.")
    ] = False,
    api_key: Annotated[
        str | None,
        typer.Option(envvar="FOREDRAFT_API_KEY", help="Sent as a bearer token.", metavar="KEY"),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for a reading.")] = 10.0,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print a JSON object for each reading.")
    ] = False,
) -> None:
    """Show a running server's drafting, a line each interval, until Ctrl-C.

    tok/s is what it generates for all, each the speed of one answer; share is
    accepted / drafted (not α, for which only foredraft tells what was judged:
    its summary has α); tok/pass counts passes without a draft too; by position
    says which share of the drafts was accepted that far.
    """
    with closing(Server.at(url, timeout, api_key)) as server:
        seen = Watch(lambda: counted(server))
        if once:
            _sum_up(rates(seen.totals, None), as_json, "Since its start")
            return
        if (why := hint(server, seen.totals)) is not None:
            typer.echo(why, err=True)
        try:
            for number, row in enumerate(seen.poll(interval)):
                if number % _EVERY == 0 and not as_json:
                    typer.echo(_line(_HEAD))
                typer.echo(_object(row) if as_json else _line(_cells(row)))
        except KeyboardInterrupt:
            _sum_up(seen.summary(), as_json, "In all")
        except ForedraftError:
            _sum_up(seen.summary(), as_json, "In all")
            raise


def _sum_up(row: Rates, as_json: bool, title: str) -> None:
    if as_json:
        typer.echo(_object(row, summary=True))
        return
    parts = [title if row.seconds is None else f"{title}, {row.seconds:.0f} s"]
    parts[0] += f": {row.generated} tokens"
    if row.accepted_of_drafted is not None:
        taken = f"{row.accepted} of {row.drafted} drafted accepted ({row.accepted_of_drafted:.2f}"
        by = _positions(row)
        parts.append(f"{taken}; by position {by})" if by else f"{taken})")
    if row.acceptance_rate is not None:
        parts.append(f"α {row.acceptance_rate:.2f}")
    known = (
        (row.tokens_per_target_pass, ".2f", "tokens/pass"),
        (row.tokens_per_s, ".1f", "tok/s for all"),
        (row.decode_tokens_per_s, ".1f", "tok/s for each"),
    )
    parts += [f"{value:{form}} {unit}" for value, form, unit in known if value is not None]
    typer.echo(", ".join(parts) + ".")


def _object(row: Rates, summary: bool = False) -> str:
    return json.dumps({"summary": summary, **asdict(row)})


def _cells(row: Rates) -> tuple[str, ...]:
    return (
        _number(row.tokens_per_s, ".1f"),
        _number(row.decode_tokens_per_s, ".1f"),
        _number(row.drafted, "d"),
        _number(row.accepted, "d"),
        _number(row.accepted_of_drafted, ".2f"),
        _number(row.tokens_per_target_pass, ".2f"),
        str(row.running),
        _positions(row) or _UNKNOWN,
    )


def _positions(row: Rates) -> str:
    return " ".join(f"{share:.2f}" for share in row.per_position or ())


def _line(cells: tuple[str, ...]) -> str:
    aligned = (cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=False))
    return " ".join((*aligned, f" {cells[-1]}"))


def _number(value: float | None, form: str) -> str:
    return _UNKNOWN if value is None else format(value, form)
