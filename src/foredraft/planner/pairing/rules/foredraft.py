"""foredraft's own rule: ids that mean the same bytes; sizes do not matter."""

from foredraft.heads.kind import HeadKind
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
    if pair.draft.head:
        return _head(pair, pair.draft.head)
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


def _head(pair: Pair, head: HeadKind) -> Ruling:
    """As `heads.load.load_head` decides, but for what only the tensors themselves can tell."""
    target, draft = pair.target, pair.draft
    if draft.format is Format.GGUF:
        return no(
            f"It reads {head} heads from .safetensors, and {draft.name} is GGUF.",
            "Name the folder or the repository that the file was made from.",
        )
    if draft.refused:
        return no(draft.refused)
    if not target.known:
        return no(
            f"A head reads hidden states, which only PyTorch gives, and {target.architecture!r} "
            "models are not known to it here.",
            "Draft with `--drafter suffix`, which needs no model.",
        )
    reason = f"It runs {head} heads.{_recurrent(target)} Use it with --draft-model."
    if target.format is Format.GGUF:
        return with_setting(f"{reason} Hidden states need PyTorch.", "--engine torch")
    return yes(reason)


def _recurrent(target: ModelFacts) -> str:
    if not target.keeps_state:
        return ""
    return " The target's state is restored from a snapshot where a draft is refused."
