"""From what a user names to a head that is ready to draft."""

from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.heads.base import Head
from foredraft.heads.checkpoint import kind_of, read_checkpoint
from foredraft.heads.kind import HeadKind
from foredraft.targets.base import Progress, Target
from foredraft.targets.source import fetch, resolve


def is_head(name: str, target_name: str = "", progress: Progress | None = None) -> bool:
    """Whether `name` is a head rather than a model; fetches what it needs to say so.

    The target's own name is one if the target brings modules to draft for itself.
    """
    source = resolve(name)
    within = _same(name, target_name)
    return not source.is_gguf and kind_of(fetch(source, progress or _silent), within) is not None


def load_head(name: str, target: Target, allow_pickle: bool = False) -> Head:
    """The head that `name` (a folder or a Hugging Face repository) stands for, on the device and
    in the format of the target it drafts for.

    Raises ForedraftError with one sentence for whatever is no head, or not this target's.
    """
    from foredraft.targets.torch_hf import TorchTarget

    source = resolve(name)
    if source.is_gguf:
        raise ForedraftError(
            f"{name} is a GGUF file, and heads are read from .safetensors; name the folder or the "
            "repository that the file was made from."
        )
    if not isinstance(target, TorchTarget):
        raise ForedraftError(
            f"{name} drafts from hidden states, which {target.engine} does not give; run the "
            "target with --engine torch."
        )
    folder, within = fetch(source, _silent), _same(name, target.name)
    checkpoint = read_checkpoint(name, folder, allow_pickle, within)
    match checkpoint.kind:
        case HeadKind.EAGLE:
            from foredraft.heads.eagle import eagle_load

            return eagle_load(checkpoint, target)
        case HeadKind.EAGLE3:
            from foredraft.heads.eagle3_load import eagle3_load

            return eagle3_load(checkpoint, target)
        case HeadKind.PEAGLE:
            from foredraft.heads.peagle import peagle_load

            return peagle_load(checkpoint, target)
        case HeadKind.MEDUSA:
            from foredraft.heads.medusa import medusa_load

            return medusa_load(checkpoint, target)
        case HeadKind.HYDRA:
            from foredraft.heads.hydra_load import hydra_load

            return hydra_load(checkpoint, target)
        case HeadKind.MTP if "assistant" in str(checkpoint.config.get("model_type")):
            from foredraft.heads.gemma import gemma_load

            return gemma_load(checkpoint, target)
        case HeadKind.MTP:
            from foredraft.heads.mtp import mtp_load

            return mtp_load(checkpoint, target)
        case HeadKind.DFLASH:
            from foredraft.heads.dflash_load import dflash_load

            return dflash_load(checkpoint, target)
        case HeadKind.DSPARK:
            from foredraft.heads.dflash_load import dspark_load

            return dspark_load(checkpoint, target)


def _same(name: str, other: str) -> bool:
    return bool(other) and Path(name).resolve() == Path(other).resolve()


def _silent(what: str, done: int, total: int) -> None:
    """Heads are small: no bar."""
