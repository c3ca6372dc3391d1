"""What an exporter hands over: the settings as text, and what a person must know about them."""

import shlex
import textwrap
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from foredraft.core.errors import ForedraftError
from foredraft.planner.plan import Choice, Plan, Verdict

_WIDTH = 98
_LOOKUPS = ("ngram", "suffix")


@dataclass(frozen=True, slots=True)
class Settings:
    """A plan's choice as one engine wants it.

    `versions` is what the text was written for, `filename` a name to keep it under. The text
    carries the warnings too, as comments.
    """

    engine: str
    versions: str
    filename: str
    text: str
    warnings: tuple[str, ...]


def advised(plan: Plan, heads: Collection[str] = ()) -> Choice | None:
    """What to run: the plan's best choice, but nothing that it found to lose.

    Raises ForedraftError for a model that drafts without a name, and for a kind of trained head
    that is not among `heads`, those that the engine runs.
    """
    if plan.verdict is Verdict.DO_NOT or plan.best is None:
        return None
    if plan.best.drafter == "model" and not plan.best.draft:
        raise ForedraftError(
            "The plan's best choice drafts with a model that it does not name; plan again with "
            "--draft MODEL."
        )
    if plan.best.drafter not in (*_LOOKUPS, "model", *heads):
        raise ForedraftError(
            f"The plan's best choice drafts with a trained head ({plan.best.drafter}), which this "
            "engine does not run; run it with foredraft --draft-model, or plan without it."
        )
    return plan.best


def document(
    plan: Plan,
    choice: Choice | None,
    engine: str,
    versions: str,
    filename: str,
    body: str,
    warnings: Iterable[str],
    mark: str = "#",
) -> Settings:
    """`body` under comments that say where it comes from; `choice` is None for plain settings."""
    said = tuple(dict.fromkeys([*warnings, *_doubt(plan, choice)]))
    comments = [
        f"By foredraft, for {versions}.",
        _about(plan, choice),
        *(f"Note: {warning}" for warning in said),
    ]
    wrap = partial(textwrap.wrap, width=_WIDTH, break_long_words=False, break_on_hyphens=False)
    blocks = ("".join(f"{mark} {line}\n" for line in wrap(comment)) for comment in comments)
    heading = (">\n" if mark == ">" else "").join(blocks)  # Markdown joins lines into paragraphs
    return Settings(engine, versions, filename, f"{heading}\n{body}", said)


def command(*parts: Sequence[str]) -> str:
    """A shell command, one part a line."""
    return " \\\n  ".join(map(shlex.join, parts)) + "\n"


def drafts_greedily(plan: Plan, choice: Choice, engine: str) -> list[str]:
    """The warning for an engine that drafts the likeliest tokens at any temperature."""
    if choice.drafter in _LOOKUPS or plan.temperature == 0:
        return []
    return [
        f"{engine} always drafts the likeliest token, so at temperature {plan.temperature:g} it "
        "accepts fewer drafts than if they were sampled, and gains less than planned."
    ]


def _about(plan: Plan, choice: Choice | None) -> str:
    if choice is None:
        none = plan.verdict is Verdict.DO_NOT or plan.best is None
        why = plan.why if none else "See the note."
        return f"Plain settings, without speculation. {why}"
    drafter = {
        "model": f"The draft model {choice.draft}",
        "ngram": "Prompt lookup (ngram)",
        "suffix": "Suffix lookup",
    }.get(choice.drafter, f"The {choice.drafter} head {choice.draft}")
    gain = (
        f"predicted {choice.predicted_speedup:.2f}x plain decoding "
        f"({choice.low:.2f}x to {choice.high:.2f}x)"
        if choice.measured_speedup is None
        else f"measured {choice.measured_speedup:.2f}x plain decoding"
    )
    return (
        f"{drafter} drafts up to {choice.draft_len} tokens a round: {gain}, with foredraft on "
        f"{plan.engine}, {plan.machine}, temperature {plan.temperature:g}. Another engine may gain "
        "more or less; measure it there."
    )


def _doubt(plan: Plan, choice: Choice | None) -> list[str]:
    if choice is None or plan.verdict is not Verdict.MEASURE_LONGER:
        return []
    return [
        f"the plan is not sure that this pays ({choice.low:.2f}x to {choice.high:.2f}x, "
        f"{plan.threshold:g}x wanted): plan again with a longer --budget before you rely on it."
    ]
