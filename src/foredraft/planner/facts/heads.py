"""Trained heads, recognised by what their files say of themselves."""

from collections.abc import Collection, Mapping
from typing import Any

from foredraft.planner.facts.model import Head, ModelFacts
from foredraft.targets.gguf_header import GGUFHeader

_SPECULATORS = {
    "eagle": Head.EAGLE,
    "eagle3": Head.EAGLE3,
    "peagle": Head.EAGLE3,
    "mtp": Head.MTP,
    "dflash": Head.DFLASH,
    "dspark": Head.DSPARK,
}
_NAMES = (
    ("dspark", Head.DSPARK),
    ("dflash", Head.DFLASH),
    ("eagle3", Head.EAGLE3),
    ("eagle", Head.EAGLE),
    ("medusa", Head.MEDUSA),
    ("mtp", Head.MTP),
    ("gemma4assistant", Head.MTP),
    ("gemma4unifiedassistant", Head.MTP),
)
"""What the name of an architecture or a model type contains."""


def head_of_config(config: Mapping[str, Any], tensors: Collection[str]) -> Head | None:
    """The head that a folder holds, by its config.json and the names of its tensors."""
    if found := _SPECULATORS.get(str(config.get("speculators_model_type"))):
        return found
    names = [*(config.get("architectures") or ()), config.get("model_type") or ""]
    told = " ".join(map(str, names)).lower().replace("_", "")
    sees = "conditionalgeneration" in told  # Eagle is also a family of models that see
    if not sees and (found := next((head for name, head in _NAMES if name in told), None)):
        return found
    if "medusa_num_heads" in config or any(name.startswith("medusa_") for name in tensors):
        return Head.MEDUSA
    if "dflash_config" in config:
        return Head.DSPARK if "markov_rank" in config else Head.DFLASH
    if "eagle_config" in config or "d2t" in tensors or any("midlayer." in t for t in tensors):
        return Head.EAGLE3
    if "fc.weight" in tensors and not any(name.startswith("lm_head") for name in tensors):
        return Head.EAGLE
    drafts = [name for name in tensors if _is_mtp(name)]
    return Head.MTP if drafts and not any(".layers.0." in name for name in tensors) else None


def head_of_gguf(header: GGUFHeader) -> Head | None:
    """The head that a GGUF file holds; a whole model with MTP layers is none."""
    match header.architecture:
        case "eagle3":
            return Head.EAGLE3
        case "dflash":
            return Head.DSPARK if "markov_w1.weight" in header.tensors else Head.DFLASH
        case "gemma4-assistant":
            return Head.MTP
    whole = "blk.0.attn_norm.weight" in header.tensors
    return Head.MTP if has_mtp(header.tensors) and not whole else None


def has_mtp(tensors: Collection[str]) -> bool:
    """Whether heads that predict further tokens are among the tensors."""
    return any(map(_is_mtp, tensors))


def misfit(target: ModelFacts, head: ModelFacts) -> str | None:
    """Why a head cannot belong to the target, or None: equal sizes prove nothing."""
    for what, left, right in (
        ("hidden size", head.hidden_size, target.hidden_size),
        ("vocabulary size", head.vocab_size, target.vocab_size),
    ):
        if left is not None and right is not None and left != right:
            return f"{head.name} was trained for a target of {what} {left:,}, not {right:,}."
    return None


def _is_mtp(name: str) -> bool:
    return name.startswith("mtp.") or ".mtp." in name or "eh_proj" in name
