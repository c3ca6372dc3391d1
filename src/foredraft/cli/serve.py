"""`foredraft serve`: a model behind OpenAI's HTTP interface."""

import logging
from asyncio import CancelledError
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated

import typer

from foredraft.cli.bar import Bar
from foredraft.cli.options import LawSettings, ModelSettings, Settings
from foredraft.cli.spread import settings_without
from foredraft.core.errors import ForedraftError
from foredraft.engine.scheduler import Scheduler

if TYPE_CHECKING:
    from foredraft.server.service import Service

# What each request says for itself.
_SHARED = {item.name for item in fields(ModelSettings)}
_PER_REQUEST = [item.name for item in fields(LawSettings) if item.name not in _SHARED]
_PER_REQUEST += ["draft_len", "exactness", "max_new_tokens", "stop", "ignore_eos", "logprobs"]


@settings_without(*_PER_REQUEST, "json", "no_color")
def serve(
    settings: Settings,
    model: Annotated[
        str,
        typer.Argument(help="The model, named as for `foredraft run --model`.", metavar="MODEL"),
    ] = "smollm2",
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 is every one.", metavar="HOST")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    api_key: Annotated[
        list[str] | None,
        typer.Option(
            envvar="FOREDRAFT_API_KEY",
            help="What clients must send; repeatable, one for each client. Needed where others "
            "than this machine can ask.",
            metavar="KEY",
        ),
    ] = None,
    served_name: Annotated[
        str | None,
        typer.Option(help="Another name that clients may ask the model by.", metavar="NAME"),
    ] = None,
    slots: Annotated[int, typer.Option(min=1, help="Requests that run at once.", metavar="N")] = 16,
    queue: Annotated[
        int, typer.Option(min=0, help="Requests that may wait; more are told to come back.")
    ] = 64,
    timeout: Annotated[
        float, typer.Option(min=0, help="Seconds an answer may take; 0 is no limit.", metavar="S")
    ] = 600.0,
    max_body: Annotated[
        int, typer.Option(min=1, help="The longest body, in KiB.", metavar="KIB")
    ] = 4096,
    cors: Annotated[
        list[str] | None,
        typer.Option(
            help="A web page's origin that may ask from a browser, as https://example.org; "
            "repeatable.",
            metavar="ORIGIN",
        ),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", metavar="", help="Pass over fields that are not known.")
    ] = False,
    log_prompts: Annotated[
        bool,
        typer.Option("--log-prompts", metavar="", help="Log what is asked and answered."),
    ] = False,
    grace: Annotated[
        float,
        typer.Option(min=0, help="Seconds that what runs may take to finish at the end."),
    ] = 30.0,
) -> None:
    """Serve a model to clients of OpenAI's interface, speculating for all of them.

    Each request may say how it is drafted for, and its usage block says what
    that was worth. A browser finds a page at the same address.

    Ctrl-C or SIGTERM lets what runs finish; again, and it stops at once.
    """
    try:
        from foredraft.server import run
        from foredraft.server.service import Service
        from foredraft.server.service import Settings as Serving
    except ImportError as error:
        raise ForedraftError(
            f"Serving needs {error.name}; install it with: pip install 'foredraft[server]'."
        ) from error
    keys = tuple(api_key or ())
    if not all(keys):
        raise ForedraftError("An --api-key is empty; give at least one character.")
    if not keys and not run.is_loopback(host):
        raise ForedraftError(
            f"--host {host} lets other machines in, so it needs --api-key KEY (or "
            "FOREDRAFT_API_KEY): what clients must send."
        )
    taken = run.bind(host, port)
    with Bar(f"Loading {settings.model}") as bar:
        generator = settings.generator(bar)
        scheduler = Scheduler(generator, slots=slots, queue=queue, progress=bar)
    named = () if served_name is None else (served_name,)
    service = Service(
        scheduler,
        Serving(
            names=(generator.target.name, *named),
            keys=keys,
            timeout_s=timeout or None,
            max_body=max_body * 1024,
            origins=tuple(cors or ()),
            lenient=lenient,
            log_prompts=log_prompts,
        ),
    )
    _log_to_stderr()
    run.serve(service, taken, grace, lambda: _announce(service, run.url_of(taken)))


def _announce(service: "Service", url: str) -> None:
    drafters = ", ".join(drafter.name for drafter in service.scheduler.drafters) or "nothing"
    typer.echo(f"{service.name} is at {url}/v1, drafted for by {drafters}; the page is {url}/.")


def _log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log = logging.getLogger("foredraft")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    logging.getLogger("uvicorn.error").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Not that a client did not take its answer before the server ended."""
    return record.exc_info is None or record.exc_info[0] is not CancelledError
