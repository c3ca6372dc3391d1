"""llama-server's command."""

from foredraft.planner.export.models import Model, gguf
from foredraft.planner.export.settings import (
    Settings,
    advised,
    command,
    document,
    drafts_greedily,
)
from foredraft.planner.plan import Choice, Plan

VERSIONS = "llama-server 0.5.0-dev (llama.cpp of October 2026, commit 0c1e570)"

_LOOKUP = 3
"""Tokens that must match before ngram-simple copies: it knows one length, foredraft 2 to 5."""


def export(plan: Plan) -> Settings:
    """`llama-server` with every speculation flag explicit: its defaults changed, and the type of
    drafter is none unless it is named."""
    choice, target = advised(plan), gguf(plan.target)
    flags, notes = ([], []) if choice is None else _speculation(plan, choice)
    text = command(("llama-server",), *_target(target), *flags)
    notes = [*target.notes, *notes]
    return document(plan, choice, "llama.cpp", VERSIONS, "llama-server.sh", text, notes)


def _target(model: Model) -> list[tuple[str, str]]:
    if model.file is None:
        return [("--model", model.where)]
    return [("--hf-repo", model.where), ("--hf-file", model.file)]


def _speculation(plan: Plan, choice: Choice) -> tuple[list[tuple[str, str]], list[str]]:
    if choice.drafter == "model":
        draft = gguf(choice.draft or "")
        flags = [
            ("--spec-type", "draft-simple"),
            *_draft(draft),
            ("--spec-draft-n-max", str(choice.draft_len)),
            ("--spec-draft-n-min", "0"),
            ("--spec-draft-p-min", "0"),
        ]
        return flags, [*draft.notes, *drafts_greedily(plan, choice, "llama.cpp")]
    copied = max(choice.draft_len, 2)
    flags = [
        ("--spec-type", "ngram-simple"),
        # Longer than what is copied, and it would never draft.
        ("--spec-ngram-simple-size-n", str(min(_LOOKUP, copied))),
        ("--spec-ngram-simple-size-m", str(copied)),
    ]
    return flags, [_NEAREST[choice.drafter]]


def _draft(model: Model) -> list[tuple[str, str]]:
    repository = [] if model.file is None else [("--spec-draft-hf", model.where)]
    return [*repository, ("--spec-draft-model", model.file or model.where)]


_NEAREST = {
    "ngram": "ngram-simple takes the latest match of one fixed length, where the plan's lookup "
    f"takes the longest of several; try {_LOOKUP + 1} or more for --spec-ngram-simple-size-n if "
    "much is rejected.",
    "suffix": "llama.cpp has no suffix lookup. ngram-simple is the nearest that looks at one "
    "request alone; ngram-mod remembers more, but in one table that all users share.",
}
