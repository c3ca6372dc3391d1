"""Ollama's rule: heads only; a plain draft model cannot be given."""

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
)

_RUN = {HeadKind.MTP, HeadKind.DFLASH}


def rule(pair: Pair) -> Ruling:
    """What `DRAFT` in a Modelfile leads to."""
    head = pair.draft.head
    if head is None:
        return no(
            "Ollama takes no plain draft model: whatever `DRAFT` names is started as a DFlash or "
            "MTP head.",
            SAME_FAMILY
            if refusal(pair.target, pair.draft)
            else "Run the same files with llama-server and --spec-type draft-simple.",
        )
    if head not in _RUN:
        return no(f"Ollama runs MTP and DFlash heads, not {head}.", SAME_FAMILY)
    others = pair.others(Format.GGUF)
    return with_setting(
        f"It runs {head} heads given as a local GGUF file.",
        (f"Get {listed(others)} as GGUF. " if others else "")
        + "In the Modelfile: `DRAFT ./the-head.gguf` and `PARAMETER draft_num_predict 4`.",
    )
