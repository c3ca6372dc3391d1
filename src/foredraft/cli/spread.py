"""The shared settings as the parameters that Typer wants to see."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints

from foredraft.cli.options import Settings

Command = Callable[..., None]


def settings_without(*names: str) -> Callable[[Command], Command]:
    """`with_settings` for a command that has no use for some: those keep their defaults."""
    shared = [item for item in fields(Settings) if item.name not in names]

    def decorate(command: Command) -> Command:
        _, *own = inspect.signature(command, eval_str=True).parameters.values()
        hints = get_type_hints(Settings, include_extras=True)
        keyword = inspect.Parameter.KEYWORD_ONLY
        options = [
            inspect.Parameter(item.name, keyword, default=item.default, annotation=hints[item.name])
            for item in shared
        ]

        def spread(**given: Any) -> None:
            settings = Settings(**{item.name: given.pop(item.name) for item in shared})
            command(settings, **given)

        spread.__name__, spread.__doc__ = command.__name__, command.__doc__
        signature = inspect.Signature([*own, *options])
        spread.__signature__ = signature  # type: ignore[attr-defined]
        return spread

    return decorate


with_settings = settings_without()
"""The command with its first parameter, the Settings, spread out: one option for each field."""
