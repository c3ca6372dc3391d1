"""`foredraft run`: one prompt, one answer."""

from pathlib import Path
from typing import Annotated

import typer

from foredraft.cli.answer import answer
from foredraft.cli.bar import Bar
from foredraft.cli.options import Settings
from foredraft.cli.prompt import as_prompt, read_prompt
from foredraft.cli.show import Screen
from foredraft.cli.spread import with_settings

System = Annotated[
    str | None, typer.Option(help="Instructions that go before the conversation.", metavar="TEXT")
]


@with_settings
def run(
    settings: Settings,
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
) -> None:
    """Answer one prompt and say, measured, what speculation was worth.

    On a terminal, tokens that came from the draft are green.

    The last line goes to standard error, so that a pipe gets the text alone.
    """
    request = settings.request()
    text = read_prompt(prompt, prompt_file)
    with Bar(f"Loading {settings.model}") as bar:
        generator = settings.generator(bar)
    screen = Screen(settings.json, settings.no_color)
    result = answer(generator, as_prompt(generator.target, text, system, raw), request, screen)
    if result.finish_reason is None:
        raise typer.Exit(130)
    screen.report(result, generator, request)
