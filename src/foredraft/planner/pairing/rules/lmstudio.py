"""LM Studio's rule: llama.cpp's for GGUF, behind a list of its own."""

from foredraft.heads.kind import HeadKind
from foredraft.planner.facts.model import Format
from foredraft.planner.pairing.rules.llama_vocab import refusal
from foredraft.planner.pairing.ruling import (
    SAME_FAMILY,
    Pair,
    Ruling,
    listed,
    no,
    with_setting,
    yes,
)

_HIDDEN = {"qwen35", "qwen35moe", "qwen3_5", "qwen3_5_moe", "qwen3_5_text", "qwen3_5_moe_text"}
_LOADED_WITH = {HeadKind.MTP: "MTP", HeadKind.DFLASH: "DFlash", HeadKind.DSPARK: "DSpark"}


def rule(pair: Pair) -> Ruling:
    """What the draft model list of a GGUF target offers, and what loads."""
    if pair.draft.head:
        return _head(pair, pair.draft.head)
    if difference := refusal(pair.target, pair.draft):
        return no(f"{difference} Its list offers drafts of the same vocabulary only.", SAME_FAMILY)
    if others := pair.others(Format.GGUF):
        return with_setting(
            f"The vocabularies agree, but {listed(others, 'is', 'are')} not GGUF.",
            "Load both models as GGUF, or both as MLX, then choose the draft in the chat's "
            "sidebar under Speculative Decoding (Power User mode).",
        )
    if {pair.target.architecture, pair.draft.architecture} & _HIDDEN:
        return with_setting(
            "The vocabularies agree, but its list of drafts stays empty for Qwen 3.5 models.",
            "Name the draft from code: `draftModel` in the SDK's prediction settings.",
        )
    return yes(
        "The vocabularies agree: the draft is in the chat's sidebar under Speculative Decoding "
        "(Power User mode)."
    )


def _head(pair: Pair, head: HeadKind) -> Ruling:
    if head not in _LOADED_WITH:
        return no(f"LM Studio runs MTP, DFlash and DSpark heads, not {head}.", SAME_FAMILY)
    others = pair.others(Format.GGUF)
    return with_setting(
        f"{head} is a setting of loading a GGUF model, off by default, from 0.4.14 on; separate "
        "head files have crashed.",
        (f"Get {listed(others)} as GGUF. " if others else "")
        + f"Turn on {_LOADED_WITH[head]} speculation in the target's load settings.",
    )
