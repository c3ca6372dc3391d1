"""`foredraft export`: a saved plan as the settings of another engine."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from foredraft.core.errors import ForedraftError
from foredraft.core.files import write_whole
from foredraft.planner import export as exporters
from foredraft.planner.plan import Plan


def export(
    plan: Annotated[
        Path, typer.Argument(help="What `foredraft plan … --json` printed.", metavar="PLAN")
    ],
    to: Annotated[
        str, typer.Option(help=f"One of {', '.join(exporters.ENGINES)}.", metavar="ENGINE")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Write the settings to FILE instead.", metavar="FILE")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print JSON and nothing else.")
    ] = False,
) -> None:
    """Print a plan's choice as the command, file or script of the engine you run.

    A plan that says do not becomes plain settings. What to know first, and
    the versions they were written for, stand in the comments at the top.
    """
    write_settings(Plan.read(plan), to, out, as_json)


def write_settings(plan: Plan, engine: str, out: Path | None, as_json: bool) -> None:
    """The plan's settings for one engine on standard output, or in a file."""
    settings = exporters.export(plan, engine)
    if out is not None:
        try:
            write_whole(out, settings.text)
        except OSError as error:
            raise ForedraftError(
                f"The settings cannot be written to {out} ({error.strerror}); name another file."
            ) from error
    if as_json:
        print(json.dumps(asdict(settings), indent=1, ensure_ascii=False))
    elif out is None:
        print(settings.text, end="")
    else:
        notes = "".join(f"Note: {warning}\n" for warning in settings.warnings)
        print(f"{notes}Wrote {out}, for {settings.versions}.", file=sys.stderr)
