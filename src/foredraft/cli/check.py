"""`foredraft check`: can two models pair, engine by engine?"""

import json
from typing import Annotated

import typer

from foredraft.cli.bar import Bar
from foredraft.cli.check_show import show
from foredraft.planner.pairing.compat import check as check_pair

_NAMES = "a folder, a .gguf file or its URL, a Hugging Face repository, org/name/file.gguf, or a \
name from `foredraft pull --list`."


def check(
    target: Annotated[
        str, typer.Argument(help=f"The model whose answers are wanted: {_NAMES}", metavar="TARGET")
    ],
    draft: Annotated[
        str,
        typer.Argument(
            help="The smaller model, or trained head, that drafts for it; likewise.",
            metavar="DRAFT",
        ),
    ],
    context: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Reckon memory for N tokens; 8192, or what the models were made for if that is "
            "less, by default.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print JSON and nothing else.")
    ] = False,
) -> None:
    """Can DRAFT draft for TARGET: in foredraft, llama.cpp, LM Studio, Ollama, vLLM, Transformers?

    Read from configurations, tokenizers and headers alone: no weights are loaded.

    The status is 0 if at least one engine can, 1 if none can, 2 for bad input.
    """
    with Bar(f"Reading {target} and {draft}") as bar:
        found = check_pair(target, draft, context, bar)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1))
    else:
        show(found)
    if not found.possible:
        raise typer.Exit(1)
