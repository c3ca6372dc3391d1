"""The shared settings as the parameters that Typer wants to see."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """The command with its first parameter spread out: one option for each field of that class.

    A parameter of the command's own that has a field's name takes its place (an argument where
    others have an option), and the field its value.
    """
    settings, *own = inspect.signature(command, eval_str=True).parameters.values()
    kind = settings.annotation
    hints, keyword = get_type_hints(kind, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    names = [item.name for item in fields(kind)]
    mine = {parameter.name for parameter in own}
    shared = [
        inspect.Parameter(item.name, keyword, default=item.default, annotation=hints[item.name])
        for item in fields(kind)
        if item.name not in mine
    ]

    def spread(**given: Any) -> None:
        made = kind(**{name: given[name] for name in names})
        command(made, **{name: given[name] for name in given if name in mine})

    spread.__name__, spread.__doc__ = command.__name__, command.__doc__
    spread.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    return spread
