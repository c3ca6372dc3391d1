"""The shared settings as the parameters that Typer wants to see."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints

Command = Callable[..., None]


def settings_without(*names: str) -> Callable[[Command], Command]:
    """`with_settings` for a command that has no use for some: those keep their defaults."""

    def decorate(command: Command) -> Command:
        settings, *own = inspect.signature(command, eval_str=True).parameters.values()
        kind = settings.annotation
        hints = get_type_hints(kind, include_extras=True)
        keyword = inspect.Parameter.KEYWORD_ONLY
        used = [item for item in fields(kind) if item.name not in names]
        mine = {parameter.name for parameter in own}
        options = [
            inspect.Parameter(item.name, keyword, default=item.default, annotation=hints[item.name])
            for item in used
            if item.name not in mine
        ]

        def spread(**given: Any) -> None:
            made = kind(**{item.name: given[item.name] for item in used})
            command(made, **{name: given[name] for name in given if name in mine})

        spread.__name__, spread.__doc__ = command.__name__, command.__doc__
        signature = inspect.Signature([*own, *options])
        spread.__signature__ = signature  # type: ignore[attr-defined]
        return spread

    return decorate


with_settings = settings_without()
"""The command with its first parameter spread out: one option for each field of its class.

A parameter of the command's own that has a field's name takes its place (an argument where others
have an option), and the field its value.
"""
