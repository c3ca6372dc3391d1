"""`foredraft report`: a stored plan as a page or a picture."""

from pathlib import Path
from typing import Annotated

import typer

from foredraft.planner.plan import Plan
from foredraft.planner.report import write_report


def report(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN", help="A file from `foredraft plan --out PLAN`.")
    ],
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to: a .html page or a .png picture.")
    ],
) -> None:
    """Make a report to share of a plan that was stored: the verdict, the numbers, the charts.

    A .html page is one file and needs nothing else. A .png needs matplotlib.
    """
    write_report(Plan.read(plan), file)
    print(f"Wrote {file}.")
