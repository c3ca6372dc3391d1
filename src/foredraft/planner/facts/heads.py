"""Trained heads in GGUF files, and whether a head's sizes are a target's."""

from foredraft.heads.kind import HeadKind, has_mtp
from foredraft.planner.facts.model import ModelFacts
from foredraft.targets.gguf_header import GGUFHeader


def head_of_gguf(header: GGUFHeader) -> HeadKind | None:
    """The head that a GGUF file holds; a whole model with MTP layers is none."""
    match header.architecture:
        case "eagle3":
            return HeadKind.EAGLE3
        case "dflash":
            return HeadKind.DSPARK if "markov_w1.weight" in header.tensors else HeadKind.DFLASH
        case "gemma4-assistant":
            return HeadKind.MTP
    whole = "blk.0.attn_norm.weight" in header.tensors
    return HeadKind.MTP if has_mtp(header.tensors) and not whole else None


def misfit(target: ModelFacts, head: ModelFacts) -> str | None:
    """Why a head cannot belong to the target, or None: equal sizes prove nothing."""
    for what, left, right in (
        ("hidden size", head.hidden_size, target.hidden_size),
        ("vocabulary size", head.vocab_size, target.vocab_size),
    ):
        if left is not None and right is not None and left != right:
            return f"{head.name} was trained for a target of {what} {left:,}, not {right:,}."
    return None
