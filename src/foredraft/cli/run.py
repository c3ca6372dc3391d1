"""`foredraft run`: one prompt, one answer."""

from pathlib import Path
from typing import Annotated

import typer

from foredraft.cli.answer import answer
from foredraft.cli.bar import Bar
from foredraft.cli.form import FormSettings, formed
from foredraft.cli.prompt import as_prompt, read_prompt
from foredraft.cli.show import Screen
from foredraft.cli.spread import with_settings
from foredraft.core.errors import ForedraftError
from foredraft.core.types import Exactness
from foredraft.engine.trace import Trace, explained

System = Annotated[
    str | None, typer.Option(help="Instructions that go before the conversation.", metavar="TEXT")
]


@with_settings
def run(
    settings: FormSettings,
    prompt: Annotated[
        str | None,
        typer.Argument(help="The text; - or a pipe means standard input.", metavar="PROMPT"),
    ] = None,
    prompt_file: Annotated[
        Path | None, typer.Option(help="Read the prompt from a file.", metavar="FILE")
    ] = None,
    system: System = None,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw", metavar="", help="Continue the text as it is, without a chat template."
        ),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", metavar="", help="Say why each round drafted what it did.")
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Record every round, the text included, for `foredraft simulate replay FILE`.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Answer one prompt and say, measured, what speculation was worth.

    On a terminal, tokens that came from the draft are green.

    The last line goes to standard error, so that a pipe gets the text alone.
    """
    request, form = settings.request(), settings.form()
    text = read_prompt(prompt, prompt_file)
    if trace is not None and not trace.parent.is_dir():
        raise ForedraftError(f"There is no folder {trace.parent} for the trace; make it first.")
    with Bar(f"Loading {settings.model}") as bar:
        generator = settings.generator(bar)
    screen = Screen(settings.json, settings.no_color)
    ids = generator.encode(as_prompt(generator.target, text, system, raw))
    request = formed(request, form, generator.target, len(ids))
    record = None
    if explain or trace is not None:
        record = Trace.begin(generator, ids, request.exactness is Exactness.BITWISE)
    result = answer(generator, ids, request, screen, record.add if record else None)
    if record is not None and explain:
        screen.note("\n".join(explained(record.rounds)))
    if record is not None and trace is not None:
        record.write(trace)
    if result.finish_reason is None:
        raise typer.Exit(130)
    screen.report(result, generator, request)
