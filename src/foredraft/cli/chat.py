"""`foredraft chat`: a conversation."""

import sys
from contextlib import suppress
from dataclasses import dataclass, field

from foredraft.cli.answer import answer
from foredraft.cli.bar import Bar
from foredraft.cli.options import Settings
from foredraft.cli.prompt import decode, opening
from foredraft.cli.run import System
from foredraft.cli.show import Screen
from foredraft.cli.spread import with_settings
from foredraft.cli.summary import details
from foredraft.core.errors import ForedraftError
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.engine.result import Result

HELP = """\
/reset  forget the conversation and begin anew
/stats  where the tokens and the time of the last answer went
/quit   leave, as Ctrl-D does; Ctrl-C stops an answer
Green tokens came from the draft."""


@with_settings
def chat(settings: Settings, system: System = None) -> None:
    """Talk with a model; each answer ends with what speculation was worth.

    What the model has read stays in its cache: a turn pays for new tokens only.

    From a pipe, each line is a message.
    """
    request = settings.request()
    with Bar(f"Loading {settings.model}") as bar:
        generator = settings.generator(bar)
    name = generator.target.name
    if not generator.target.tokenizer.has_template:
        raise ForedraftError(f"{name} has no chat template; use `foredraft run --raw` with it.")
    screen = Screen(settings.json, settings.no_color)
    talk = Conversation(generator, request, screen, system)
    interactive = sys.stdin.isatty()
    if interactive:
        screen.note(f"{name}: /help lists the commands, Ctrl-D leaves.")
    while (said := _ask(interactive)) is not None and said != "/quit":
        try:
            talk.hear(said)
        except ForedraftError as error:
            if not interactive:
                raise
            screen.note(str(error))


@dataclass(slots=True)
class Conversation:
    """The messages so far, and what each line a person types does to them."""

    generator: Generator
    request: Request
    screen: Screen
    system: str | None
    messages: list[dict[str, str]] = field(default_factory=list)
    last: Result | None = None

    def hear(self, said: str) -> None:
        """Obey a command or answer a message."""
        if said == "/reset":
            self.messages.clear()
            self.screen.note("The conversation begins anew.")
        elif said == "/stats":
            self._stats()
        elif said == "/help":
            self.screen.note(HELP)
        elif said.startswith("/") and said[1:].isalpha():
            self.screen.note(f"{said} is no command; /help lists them.")
        elif said:
            self._answer({"role": "user", "content": said})

    def _answer(self, message: dict[str, str]) -> None:
        target = self.generator.target
        asked = [*self.messages, message]
        ids = target.tokenizer.chat([*opening(self.system), *asked])
        if len(ids) >= target.context:
            raise ForedraftError(
                f"The conversation has {len(ids)} tokens with this message, and {target.name} has "
                f"a context of {target.context}; say less, or begin anew with /reset."
            )
        self.last = answer(self.generator, ids, self.request, self.screen)
        if self.last.text:
            self.messages = [*asked, {"role": "assistant", "content": self.last.text}]
        self.screen.report(self.last, self.generator, self.request)

    def _stats(self) -> None:
        self.screen.note("\n".join(details(self.last)) if self.last else "No answer yet.")


def _ask(interactive: bool) -> str | None:
    """The next line that a person or a pipe has to say; None at the end."""
    if not interactive:
        data = sys.stdin.buffer.readline()
        return decode(data, "Standard input").strip() if data else None
    with suppress(ImportError):
        import readline  # noqa: F401  (input() then edits lines and remembers them)
    try:
        # Into a file goes what the model says, not the prompt sign.
        return input("> " if sys.stdout.isatty() else "").strip()
    except (EOFError, KeyboardInterrupt):
        print(file=sys.stderr)
        return None
