"""Trained heads, recognised by what their files say of themselves."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any


class HeadKind(StrEnum):
    """Trained heads: they draft for one target, whose hidden states they read."""

    EAGLE = "EAGLE"
    EAGLE3 = "EAGLE-3"
    PEAGLE = "P-EAGLE"
    MEDUSA = "Medusa"
    HYDRA = "Hydra"
    MTP = "MTP"
    DFLASH = "DFlash"
    DSPARK = "DSpark"

    @property
    def phrase(self) -> str:
        spoken = self in (HeadKind.EAGLE, HeadKind.EAGLE3, HeadKind.MTP)
        return f"{'an' if spoken else 'a'} {self} head"


_SPECULATORS = {
    "eagle": HeadKind.EAGLE,
    "eagle3": HeadKind.EAGLE3,
    "peagle": HeadKind.PEAGLE,
    "mtp": HeadKind.MTP,
    "dflash": HeadKind.DFLASH,
    "dspark": HeadKind.DSPARK,
}
_NAMES = (
    ("dspark", HeadKind.DSPARK),
    ("dflash", HeadKind.DFLASH),
    ("museglimmerassistant", HeadKind.DFLASH),
    ("peagle", HeadKind.PEAGLE),
    ("eagle3", HeadKind.EAGLE3),
    ("eagle", HeadKind.EAGLE),
    ("hydra", HeadKind.HYDRA),
    ("medusa", HeadKind.MEDUSA),
    ("mtp", HeadKind.MTP),
    ("gemma4assistant", HeadKind.MTP),
    ("gemma4unifiedassistant", HeadKind.MTP),
)
"""What the name of an architecture or a model type contains."""


def recognise(
    config: Mapping[str, Any], tensors: Collection[str], within: bool = False
) -> HeadKind | None:
    """The head that a folder holds, by its config.json and the names of its tensors; None for
    anything else. A whole model that brings modules to draft for itself is one only `within`."""
    if found := _SPECULATORS.get(str(config.get("speculators_model_type"))):
        return found
    names = [*(config.get("architectures") or ()), config.get("model_type") or ""]
    told = " ".join(map(str, names)).lower().replace("_", "")
    sees = "conditionalgeneration" in told  # Eagle is also a family of models that see
    if not sees and (found := next((kind for name, kind in _NAMES if name in told), None)):
        return HeadKind.PEAGLE if found is HeadKind.EAGLE3 and _parallel(config) else found
    if any(key.startswith("hydra_") for key in config):
        return HeadKind.HYDRA
    if "medusa_num_heads" in config or any(name.startswith("medusa_") for name in tensors):
        return HeadKind.MEDUSA
    if "dflash_config" in config:
        return HeadKind.DSPARK if "markov_rank" in config else HeadKind.DFLASH
    if "eagle_config" in config or "draft_vocab_size" in config or _eagle3(tensors):
        return HeadKind.PEAGLE if _parallel(config) or "mask_hidden" in tensors else HeadKind.EAGLE3
    if "fc.weight" in tensors and not any(name.startswith("lm_head") for name in tensors):
        return HeadKind.EAGLE
    whole = any(".layers.0." in name and not _is_mtp(name) for name in tensors)
    return HeadKind.MTP if has_mtp(tensors) and (within or not whole) else None


def has_mtp(tensors: Collection[str]) -> bool:
    """Whether heads that predict further tokens are among the tensors."""
    return any(map(_is_mtp, tensors))


def _eagle3(tensors: Collection[str]) -> bool:
    return "d2t" in tensors or any("midlayer." in name for name in tensors)


def _parallel(config: Mapping[str, Any]) -> bool:
    return bool(config.get("parallel_drafting")) or "ptd_token_id" in config


def _is_mtp(name: str) -> bool:
    return name.startswith("mtp.") or ".mtp." in name or "eh_proj" in name
