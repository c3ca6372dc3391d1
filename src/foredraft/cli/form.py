"""The options that say what form an answer has."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from foredraft.cli.options import Settings
from foredraft.core.errors import ForedraftError
from foredraft.drafters.forced import ForcedDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.grammar.grammar import Grammar
from foredraft.grammar.vocabulary import Vocabulary
from foredraft.targets.base import Progress, Target

_PANEL = "Form of the answer"


@dataclass(frozen=True, slots=True)
class FormSettings(Settings):
    """And the form of the answer, from a file."""

    json_schema: Annotated[
        Path | None,
        typer.Option(
            help="The answer is JSON that the schema in FILE describes.",
            metavar="FILE",
            rich_help_panel=_PANEL,
        ),
    ] = None
    grammar: Annotated[
        Path | None,
        typer.Option(
            help="The answer is what the rule `start` of a Lark grammar in FILE describes.",
            metavar="FILE",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def generator(self, progress: Progress | None = None) -> Generator:
        """The model and its drafters; by itself it drafts what the form leaves no choice about."""
        made = Settings.generator(self, progress)
        formed = self.json_schema is not None or self.grammar is not None
        if not formed or self.drafter != "auto" or self.draft_len is not None:
            return made
        return made.with_drafters(*made.drafters, ForcedDrafter())

    def form(self) -> Grammar | None:
        """The grammar that is asked for; ForedraftError for a file that holds none."""
        if self.json_schema is not None and self.grammar is not None:
            raise ForedraftError(
                "--json-schema and --grammar both say what the answer is; give one."
            )
        if self.json_schema is not None:
            return Grammar.schema(_read(self.json_schema))
        return None if self.grammar is None else Grammar.lark(_read(self.grammar))


def formed(request: Request, form: Grammar | None, target: Target, prompt_length: int) -> Request:
    """A request whose answer has the form, if one is asked for."""
    if form is None:
        return request
    return request.constrained(Vocabulary(target).compile(form), prompt_length)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ForedraftError(f"{path} cannot be read as text: {error}.") from error
