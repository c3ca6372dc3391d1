"""`foredraft verify`: is speculation exact on this machine, with this model, these settings?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from foredraft.cli.bar import Bar
from foredraft.cli.options import Settings
from foredraft.cli.spread import settings_without
from foredraft.cli.verdict import BAD, GOOD, OPEN, lines
from foredraft.core.errors import ForedraftError
from foredraft.planner.audit.against import against as audit_server
from foredraft.planner.audit.audit import Audit, audit
from foredraft.planner.audit.runs import share
from foredraft.rivals.openai import Server
from foredraft.rivals.prompts import read_samples

SOME = ("summary", "code_gen", "story", "ja_qa")
"""Of the eight prompts, four that differ most."""
_PATIENCE_S = 600.0
_DRAFTING = ("drafter", "draft_model", "draft_engine", "draft_greedy", "store")


@settings_without("max_new_tokens", "logprobs")
def verify(
    settings: Settings,
    tokens: Annotated[
        int, typer.Option(help="Tokens in all, of each text that is compared.", metavar="N", min=1)
    ] = 256,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="Your own prompts: one a line, or JSON lines; four of ours by default.",
            metavar="FILE",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Audit the OpenAI-compatible server at URL instead; --model names its weights.",
            metavar="URL",
        ),
    ] = None,
) -> None:
    """Audit speculation: is the text what your model would have written without it?

    Greedy text and the text of a seed are compared with plain decoding, and
    sampled tokens with the probabilities they should have had. Where texts
    differ, it says whether rounding explains it.

    The exit status is 1 if something is off.
    """
    request = settings.request()
    samples = read_samples(prompts)
    if prompts is None:
        samples = [sample for sample in samples if sample.id in SOME]
    used, each = share(tokens, len(samples))
    samples, request = samples[:used], replace(request, max_new_tokens=each)
    server = None if against is None else Server.at(against, _PATIENCE_S).serving(None)
    with Bar(f"Loading {settings.model}") as bar:
        if server is None:
            generator = settings.generator(bar)
            codec = generator.target.tokenizer
            ids = [(sample.id, sample.tokens(codec)) for sample in samples]
            found = audit(generator, request, ids, bar)
        else:
            generator = _plain(settings).generator(bar)
            found = audit_server(generator, server, request, samples, bar)
    if settings.json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
    else:
        _show(found, settings.no_color)
    if not found.ok:
        raise typer.Exit(1)


def _plain(settings: Settings) -> Settings:
    """The settings without drafts; ForedraftError where drafts are set, which would do nothing."""
    usual = Settings()
    for name in _DRAFTING:
        if getattr(settings, name) != getattr(usual, name):
            raise ForedraftError(
                f"--{name.replace('_', '-')} sets how foredraft drafts, but with --against the "
                "server does; leave it out."
            )
    return replace(settings, drafter="none")


def _show(found: Audit, no_color: bool) -> None:
    # Rich costs 50 ms to import, which --help and --json need not pay.
    from rich.console import Console
    from rich.text import Text

    styles = {GOOD: "green", BAD: "red", OPEN: "yellow"}
    console = Console(highlight=False, no_color=no_color or None)
    for line in lines(found):
        text = Text(line)
        text.stylize(styles.get(line[0], ""), 0, 1)
        console.print(text, soft_wrap=not console.is_terminal)
