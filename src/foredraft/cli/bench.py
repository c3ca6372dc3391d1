"""`foredraft bench`: other engines, measured from outside."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from foredraft.cli.bar import Bar
from foredraft.cli.findings import show
from foredraft.core.errors import ForedraftError
from foredraft.core.files import write_whole
from foredraft.rivals.bench import INTERRUPTED, measure
from foredraft.rivals.findings import as_object
from foredraft.rivals.openai import Question, Server
from foredraft.rivals.pairs import OFF, ON
from foredraft.rivals.prompts import read_samples


def bench(
    url: Annotated[
        str, typer.Argument(help="The server that speculates: http://host:port.", metavar="URL")
    ],
    baseline: Annotated[
        str | None,
        typer.Option(help="The same model on a server that does not speculate.", metavar="URL"),
    ] = None,
    off_body: Annotated[
        str | None,
        typer.Option(
            help="Fields that switch speculation off for one request, for a server that can; null "
            "takes a field of --body away.",
            metavar="JSON",
        ),
    ] = None,
    body: Annotated[
        str | None, typer.Option(help="Fields that go into every request.", metavar="JSON")
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="Your own prompts: JSON lines, or one a line; eight that differ much by default.",
            metavar="FILE",
        ),
    ] = None,
    tokens: Annotated[
        int, typer.Option("--tokens", "-n", min=2, help="The most tokens an answer may have.")
    ] = 128,
    repeats: Annotated[int, typer.Option(min=1, help="How often each prompt is asked.")] = 3,
    temperature: Annotated[
        float, typer.Option(min=0, help="0 compares the texts too; above, repeats differ.")
    ] = 0.0,
    model: Annotated[
        str | None,
        typer.Option(help="The model's name there; the only one by default.", metavar="NAME"),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(envvar="FOREDRAFT_API_KEY", help="Sent as a bearer token.", metavar="KEY"),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds to wait for a server's next word.")
    ] = 120.0,
    out: Annotated[
        Path | None,
        typer.Option(help="Write everything measured, the texts too, as JSON.", metavar="FILE"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print JSON and nothing else.")
    ] = False,
) -> None:
    """Ask a server the same prompts with speculation and without, and compare.

    It must speak OpenAI's interface, as llama-server, vLLM, LM Studio and
    Ollama do. Without --baseline and --off-body it is measured by itself.

    Examples:

    foredraft bench http://localhost:8080 --baseline http://localhost:8081

    foredraft bench localhost:1234 --body '{"draft_model": "small"}' --off-body
    '{"draft_model": null}'
    """
    samples = read_samples(prompts)
    extra, switch = _fields(body, "body"), _fields(off_body, "off-body")
    if out is not None and not out.parent.is_dir():
        raise ForedraftError(f"There is no folder {out.parent} for --out; make it first.")
    with ExitStack() as stack:
        bar = stack.enter_context(Bar("Finding the server"))

        def connect(where: str) -> Server:
            server = Server.at(where, timeout, api_key)
            stack.callback(server.close)
            return server.serving(model).also(extra)

        sides = {ON: connect(url)}
        if baseline is not None:
            sides[OFF] = connect(baseline).also(switch)
        elif switch:
            sides[OFF] = sides[ON].also(switch)
        found = measure(sides, samples, Question([], tokens, temperature), repeats, bar)
    setting: dict[str, Any] = {
        "model": sides[ON].model,
        "temperature": temperature,
        "tokens": tokens,
        "repeats": repeats,
        "body": extra,
        "off_body": switch,
    }
    result = as_object(found, samples, setting)
    try:
        if out is not None:
            _write(out, result)
    finally:
        if as_json:
            typer.echo(json.dumps(result))
        else:
            show(found, samples, sides[ON].model)
    if found.error == INTERRUPTED:
        raise typer.Exit(130)
    if found.error is not None:
        raise ForedraftError(found.error)


def _write(out: Path, result: dict[str, Any]) -> None:
    try:
        write_whole(out, json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise ForedraftError(
            f"What was measured cannot be written to {out} ({error.strerror}); it is above."
        ) from error


def _fields(text: str | None, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ForedraftError(f"--{name} is {text!r}; it must be a JSON object such as '{{}}'.")
    return value
