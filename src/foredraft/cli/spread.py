"""The shared settings as the parameters that Typer wants to see."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints

from foredraft.cli.options import Settings


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """The command with its first parameter, the Settings, spread out: one option for each field."""
    _, *own = inspect.signature(command, eval_str=True).parameters.values()
    hints, keyword = get_type_hints(Settings, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(item.name, keyword, default=item.default, annotation=hints[item.name])
        for item in fields(Settings)
    ]

    def spread(**given: Any) -> None:
        settings = Settings(**{item.name: given.pop(item.name) for item in fields(Settings)})
        command(settings, **given)

    spread.__name__, spread.__doc__ = command.__name__, command.__doc__
    spread.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    return spread
