"""`foredraft plan`: will speculation pay here, with what, and how sure is that."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from foredraft.cli.bar import Bar
from foredraft.cli.options import LawSettings
from foredraft.cli.spread import with_settings
from foredraft.cli.units import read_time
from foredraft.core.errors import ForedraftError
from foredraft.planner.export import ENGINES, check_engine
from foredraft.planner.export import export as settings_for
from foredraft.planner.inquiry import Inquiry, inquire
from foredraft.planner.report import check_place, write_report
from foredraft.planner.what_if import what_if
from foredraft.rivals.prompts import read_samples


@with_settings
def plan(
    settings: LawSettings,
    model: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="The model to speed up, named as for `foredraft run --model`."
        ),
    ] = "smollm2",
    draft: Annotated[
        list[str] | None,
        typer.Option(help="A model that may draft for it; repeatable.", metavar="NAME"),
    ] = None,
    draft_engine: Annotated[
        str, typer.Option(help="What runs the drafts, as --engine.", metavar="ENGINE")
    ] = "auto",
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="Your prompts: one a line, or JSON lines with prompt or messages, id and kind; "
            "eight of different kinds come with foredraft.",
            metavar="FILE",
        ),
    ] = None,
    tokens: Annotated[
        int, typer.Option("--tokens", "-n", min=8, help="Tokens an answer.", metavar="N")
    ] = 96,
    budget: Annotated[
        str, typer.Option(help="How long it may measure, as 90s, 2m or 1h.", metavar="TIME")
    ] = "3m",
    threshold: Annotated[
        float,
        typer.Option(min=1.0, help="The speed-up below which it says: do not.", metavar="X"),
    ] = 1.2,
    run: Annotated[
        bool,
        typer.Option(
            "--run", metavar="", help="Then run the best, and say how good the prediction was."
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Store the plan as JSON, for `export`.", metavar="FILE")
    ] = None,
    export: Annotated[
        str | None,
        typer.Option(help=f"Also print the settings for {', '.join(ENGINES)}.", metavar="ENGINE"),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write a report to share: a .html page or a .png.", metavar="FILE"),
    ] = None,
    suppose: Annotated[
        bool,
        typer.Option(
            "--what-if",
            metavar="",
            help="Also ask: what if more sequences were decoded together, at another temperature, "
            "or with a better draft?",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print the plan as JSON and nothing else.")
    ] = False,
) -> None:
    """Measure this machine and these prompts, and say whether to speculate, with what, and why.

    The target answers the prompts plainly; what every drafter would have made of these very
    answers is then counted, and priced at what passes cost here. Nothing is changed.
    """
    inquiry = Inquiry(
        model=model,
        drafts=tuple(draft or ()),
        samples=read_samples(prompts),
        params=settings.params(),
        tokens=tokens,
        budget_s=read_time(budget, "budget"),
        threshold=threshold,
        engine=settings.engine,
        draft_engine=draft_engine,
        seed=settings.seed or 0,
        run=run,
        suppose=suppose or report is not None,
    )
    if out is not None and not out.parent.is_dir():
        raise ForedraftError(f"There is no folder {out.parent} for the plan; make it first.")
    if report is not None:
        check_place(report)
    if export is not None:
        check_engine(export)
    with Bar(f"Loading {model}") as bar:
        made = inquire(inquiry, settings.placement(), bar)
    if out is not None:
        made.write(out)
    if report is not None:
        write_report(made, report)
    found = what_if(made) if suppose else None
    if as_json:
        also = {"what_if": asdict(found)} if found else {}
        if export is not None:
            also["settings"] = asdict(settings_for(made, export))
        print(json.dumps(made.to_dict() | also, ensure_ascii=False))
        return
    from foredraft.cli.plan_table import show, show_what_if

    show(made)
    if found is not None:
        show_what_if(made, found)
    if report is not None:
        print(f"\nWrote {report}.")
    if export is not None:
        print(f"\n{settings_for(made, export).text}", end="")
