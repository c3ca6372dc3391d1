"""vLLM's rule: the configurations' vocabulary sizes, and nothing else."""

import json

from foredraft.heads.kind import HeadKind
from foredraft.planner.facts.model import Format
from foredraft.planner.pairing.ruling import (
    SAME_FAMILY,
    Pair,
    Ruling,
    listed,
    no,
    with_setting,
    yes,
)

_METHODS = {
    HeadKind.EAGLE: "eagle",
    HeadKind.EAGLE3: "eagle3",
    HeadKind.PEAGLE: "eagle3",
    HeadKind.MTP: "mtp",
    HeadKind.DFLASH: "dflash",
    HeadKind.DSPARK: "dspark",
}
_GGUF = "Serve the original Hugging Face models, or try the package vllm-gguf-plugin. "


def rule(pair: Pair) -> Ruling:
    """What `vllm serve TARGET --speculative-config …` says."""
    if pair.draft.head:
        return _head(pair, pair.draft.head)
    left, right = pair.target.vocab_size, pair.draft.vocab_size
    if left == right and not pair.near:
        return no(
            f"It compares vocabulary sizes only, which agree, so it would start; but drafts would "
            f"almost never be accepted. {pair.difference}",
            SAME_FAMILY,
        )
    gguf = pair.others(Format.TRANSFORMERS)
    if left == right:
        reason = f"Both configurations say vocab_size {left:,}. {pair.difference}{_context(pair)}"
        if gguf:
            return with_setting(
                f"{reason} {listed(gguf, 'is', 'are')} GGUF, which needs a plug-in and a GPU; it "
                "is experimental, and nothing is documented about drafting with it.",
                _GGUF + _setting(pair, "draft_model"),
            )
        return yes(f"{reason} Start it with {_setting(pair, 'draft_model')}")
    cost = "" if pair.same else " Only tokens spelled alike in both can be drafted."
    return with_setting(
        f"It refuses vocab_size {left:,} with {right:,}"
        + (", though the tokenizers agree (the rest is padding)." if pair.same else ".")
        + " Translating between vocabularies lifts that, at a price: greedy drafts only, and the "
        f"older, slower model runner.{cost}",
        (_GGUF if gguf else "") + _setting(pair, "draft_model", use_heterogeneous_vocab=True),
    )


def _head(pair: Pair, head: HeadKind) -> Ruling:
    if head not in _METHODS:
        return no(f"vLLM 0.33 has no {head} drafting any more.", SAME_FAMILY)
    if gguf := pair.others(Format.TRANSFORMERS):
        return no(
            f"It reads {head} heads and their targets in Transformers' format, and "
            f"{listed(gguf, 'is', 'are')} GGUF.",
            "Serve the original Hugging Face models.",
        )
    return with_setting(
        f"It runs {head} heads, but guesses the method from the folder's name unless told.",
        _setting(pair, _METHODS[head]),
    )


def _context(pair: Pair) -> str:
    target, draft = pair.target.context, pair.draft.context
    if target is None or draft is None or draft >= target:
        return ""
    return f" The target's context would be cut from {target:,} to the draft's {draft:,} tokens."


def _setting(pair: Pair, method: str, **more: bool) -> str:
    asked = {"method": method, "model": pair.draft.name, "num_speculative_tokens": 3, **more}
    return f"--speculative-config '{json.dumps(asked)}'"
