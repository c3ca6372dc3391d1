"""What is wrong with a setting, and the rules that find it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

Config = TypeVar("Config")


class Severity(StrEnum):
    """What a setting does: stops the engine, nothing, harm, or less than it could."""

    ERROR = "error"
    IGNORED = "ignored"
    HARMFUL = "harmful"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class Finding:
    """One setting as it was written, what is wrong with it, and how to mend it."""

    engine: str
    severity: Severity
    setting: str
    what: str
    mend: str


@dataclass(frozen=True, slots=True)
class Rule(Generic[Config]):
    """`find` returns the offending setting as it was written, or "" where the rule is kept."""

    severity: Severity
    find: Callable[[Config], str]
    what: str
    mend: str


def when(condition: object, setting: str) -> str:
    """What a rule's `find` returns: the setting where the condition holds."""
    return setting if condition else ""


def check(engine: str, rules: Iterable[Rule[Config]], config: Config) -> list[Finding]:
    """The rules that a configuration breaks, in the rules' order."""
    return [
        Finding(engine, rule.severity, setting, rule.what, rule.mend)
        for rule in rules
        if (setting := rule.find(config))
    ]
