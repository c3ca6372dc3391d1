"""`foredraft lint-config`: an existing command or file, read for what no longer holds."""

import json
import shlex
import shutil
import sys
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from foredraft.cli.show import takes_colour
from foredraft.core.errors import ForedraftError
from foredraft.planner.lint import Finding, Severity, lint

REST = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""Whatever follows the first word belongs to the command that is read."""

_COLOURS = {
    Severity.ERROR: typer.colors.RED,
    Severity.HARMFUL: typer.colors.YELLOW,
    Severity.IGNORED: typer.colors.CYAN,
    Severity.HINT: typer.colors.BLUE,
}


def lint_config(
    source: Annotated[
        list[str],
        typer.Argument(
            help="A file, - for standard input, or a command: as it is, or in quotes.",
            metavar="FILE|COMMAND…",
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print JSON and nothing else.")
    ] = False,
) -> None:
    """Point out settings of speculation that are removed, ignored or harmful.

    Reads commands, shell scripts, compose files, Modelfiles, JSON and YAML,
    and Python with generate(), of llama.cpp, LM Studio, Ollama, vLLM, SGLang,
    TensorRT-LLM and Transformers. Nothing is run. Exit status 0: nothing
    found; 1: something; 2: not readable, or of no known engine.
    """
    engines, findings = lint(_read(source))
    if as_json:
        found = [asdict(finding) for finding in findings]
        print(json.dumps({"engines": engines, "findings": found}, indent=1, ensure_ascii=False))
    else:
        for finding in findings:
            print(_shown(finding))
        print(_summary(engines, findings))
    if findings:
        raise typer.Exit(1)


def _read(source: list[str]) -> str:
    if len(source) > 1:
        return shlex.join(source)
    (name,) = source
    try:
        if name == "-":
            return sys.stdin.read()
        if Path(name).is_file():
            return Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise ForedraftError(
            f"{name} cannot be read ({error.strerror}); check its permissions."
        ) from error
    except UnicodeDecodeError as error:
        raise ForedraftError(f"{name} is not text in UTF-8; give a script or a command.") from error
    if not any(map(str.isspace, name)):
        raise ForedraftError(f"There is no file {name}; give a file, or a whole command.")
    return name


def _shown(finding: Finding) -> str:
    severity = f"{finding.severity:<8}"
    if takes_colour(sys.stdout):
        severity = typer.style(severity, fg=_COLOURS[finding.severity])
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    margin = " " * 9
    said = (
        textwrap.fill(text, width, initial_indent=margin + mark, subsequent_indent=margin + indent)
        for text, mark, indent in ((finding.what, "", ""), (finding.mend, "→ ", "  "))
    )
    return "\n".join((f"{severity} {finding.setting}", *said))


def _summary(engines: dict[str, str], findings: list[Finding]) -> str:
    count = len(findings)
    said = f"{count} finding{'s'[: count > 1]}" if findings else "Nothing to point out"
    return f"{said}, by what holds for {' and '.join(engines.values())}."
