"""Transformers' rule: sizes decide whether it asks for tokenizers; caches must be cut back."""

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

_GGUF = "Load the original repositories, or GGUF with from_pretrained(folder, gguf_file=…). "
_SNAPSHOT = "Use llama.cpp or foredraft, which restore the state from a snapshot."


def rule(pair: Pair) -> Ruling:
    """What `target.generate(assistant_model=draft)` does."""
    if pair.target.is_recurrent:
        return no(
            f"It refuses targets ({pair.target.architecture}) whose recurrent state cannot be cut "
            "back.",
            _SNAPSHOT,
        )
    if pair.draft.head:
        return _head(pair, pair.draft.head)
    if pair.draft.is_recurrent:
        return no(
            f"It would start, but never puts back the recurrent state of the draft "
            f"({pair.draft.architecture}): after the first refused token its drafts are off.",
            _SNAPSHOT,
        )
    left, right = pair.target.vocab_size, pair.draft.vocab_size
    gguf = pair.others(Format.TRANSFORMERS)
    load = _GGUF if gguf else ""
    if left == right and not pair.near:
        return no(
            "It compares vocabulary sizes only, which agree, so it would start and refuse the "
            f"tokenizers that could mend it; drafts would almost never be accepted. "
            f"{pair.difference}",
            SAME_FAMILY,
        )
    if left != right:
        how = (
            "though the tokenizers agree, it translates every draft through text, which costs time."
            if pair.same
            else "it translates drafts through text, and fewer are accepted."
        )
        return with_setting(
            f"vocab_size {left:,} is not {right:,}: {how}",
            f"{load}generate(…, assistant_model=draft, tokenizer=…, assistant_tokenizer=…)",
        )
    if gguf:
        return with_setting(
            f"Both have vocab_size {left:,}. {pair.difference} {listed(gguf, 'is', 'are')} GGUF, "
            "which it reads for some architectures.",
            f"{load}generate(…, assistant_model=draft)",
        )
    return yes(
        f"Both have vocab_size {left:,}. {pair.difference} Use it with "
        "generate(…, assistant_model=draft)."
    )


def _head(pair: Pair, head: HeadKind) -> Ruling:
    if head not in (HeadKind.MTP, HeadKind.DFLASH):
        return no(f"Transformers does not run {head} heads.", SAME_FAMILY)
    if pair.others(Format.TRANSFORMERS):
        return no("It reads heads in Transformers' format only.", "Use llama.cpp for GGUF.")
    if head is HeadKind.DFLASH:
        return with_setting(
            "It runs DFlash heads.", 'generate(…, assistant_model=head, speculation_type="dflash")'
        )
    if pair.draft.architecture.startswith("gemma4"):
        return with_setting("It runs Gemma 4's assistants.", "generate(…, assistant_model=head)")
    return no(
        "It runs MTP heads that are part of the target only.",
        "If the target has its own, generate(…, use_mtp=True).",
    )
