"""The `foredraft` command: its subcommands, and what every failure looks like."""

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.main import get_command

from foredraft import __version__
from foredraft.cli import (
    bench,
    chat,
    check,
    export,
    lint_config,
    plan,
    pull,
    report,
    run,
    serve,
    simulate,
    train,
    verify,
    watch,
)
from foredraft.core.errors import ForedraftError

app = typer.Typer(
    name="foredraft",
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run.run)
app.command()(chat.chat)
app.command()(serve.serve)
app.command()(check.check)
app.command()(plan.plan)
app.command()(report.report)
app.command()(pull.pull)
app.command()(bench.bench)
app.command()(watch.watch)
app.command()(export.export)
app.command("lint-config", context_settings=lint_config.REST)(lint_config.lint_config)
app.command()(verify.verify)
app.command()(train.train)
app.add_typer(simulate.app, name="simulate")


@app.callback(invoke_without_command=True)
def foredraft(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version.")
    ] = False,
) -> None:
    """Faster answers from the same model: speculative decoding, exact and measured."""
    if version:
        print(f"foredraft {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns 0, 1 where `verify` finds something off, 2 for what a person
    can mend, or 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # "?" beats a traceback on an old terminal
    try:
        status = get_command(app)(arguments, prog_name="foredraft", standalone_mode=False)
        sys.stdout.flush()
    except ForedraftError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has enough. Python must not try again to flush it on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _refuse(
            f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}."
        )
    except Exception as error:
        # Typer's usage errors share no public class, but all can format themselves.
        if not hasattr(error, "format_message"):
            raise
        return _refuse(_usage(error))
    return status if isinstance(status, int) else 0


def _refuse(sentence: str) -> int:
    print(f"foredraft: {sentence}", file=sys.stderr)
    return 2


def _usage(error: Any) -> str:
    path = error.ctx.command_path if getattr(error, "ctx", None) else "foredraft"
    said = error.format_message()
    return f"{said}{'' if said.endswith(('.', '?')) else '.'} See `{path} --help`."
