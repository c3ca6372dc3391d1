"""foredraft's own rule: ids that mean the same bytes; sizes do not matter."""

from foredraft.planner.facts.model import Format, ModelFacts
from foredraft.planner.pairing.ruling import (
    SAME_FAMILY,
    Pair,
    Ruling,
    listed,
    no,
    with_setting,
    yes,
)


def rule(pair: Pair) -> Ruling:
    """As `engine.load.pair` decides when both are loaded."""
    if head := pair.draft.head:
        return no(
            f"foredraft does not run {head} heads yet.",
            "Draft with a small model of the same family, or with `--drafter suffix`, which needs "
            "no model.",
        )
    if not pair.same:
        return no(pair.difference, f"{SAME_FAMILY} Or `--drafter suffix`, which needs no model.")
    strange = [model for model in (pair.target, pair.draft) if not model.known]
    for model in strange:
        if model.format is Format.TRANSFORMERS:
            return no(
                f"The installed Transformers does not know {model.architecture!r} models.",
                "Upgrade Transformers, or name GGUF files, which run on llama.cpp.",
            )
    reason = f"{pair.difference}{_recurrent(pair.target)} Use it with --draft-model."
    if strange:
        names = listed(list(dict.fromkeys(model.name for model in strange)), "runs", "run")
        return with_setting(
            f"{reason} {names} on llama.cpp only.",
            "pip install 'foredraft[gguf]', unless it is installed.",
        )
    return yes(reason)


def _recurrent(target: ModelFacts) -> str:
    if not target.keeps_state:
        return ""
    return " The target's state is restored from a snapshot where a draft is refused."
