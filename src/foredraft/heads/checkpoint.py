"""A head's folder: its config.json, and its tensors, which are read when they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.heads.head_config import config_of, refuse_lossy, refuse_malformed
from foredraft.heads.kind import HeadKind, recognise
from foredraft.targets.tensor_files import entries

_PICKLES = ("*.bin", "*.pt", "*.pth")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """`shapes` are those of its tensors, by name. `config` is config.json as it stands."""

    name: str
    kind: HeadKind
    config: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    files: Mapping[str, Path]
    unpickled: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """Where its .safetensors files lie."""
        return next(iter(self.files.values())).parent

    @property
    def phrase(self) -> str:
        """What to call it in a sentence."""
        return f"{self.name}, {self.kind.phrase},"

    @property
    def layers(self) -> Mapping[str, Any]:
        """The settings of its layers: speculators' checkpoints keep them apart."""
        inner: Mapping[str, Any] = self.config.get("transformer_layer_config") or self.config
        return inner

    def tensor(self, name: str) -> Any:
        """A PyTorch tensor on the CPU, in the type it is stored in."""
        if name in self.unpickled:
            return self.unpickled[name]
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.files[name], framework="pt") as file:
                return file.get_tensor(name)
        except (OSError, SafetensorError) as error:
            raise ForedraftError(
                f"{self.files[name]} cannot be read ({error}); download it again."
            ) from error

    def number(self, *names: str) -> int | None:
        """A whole number from config.json or its layers' settings, by the first name that is there;
        ForedraftError if it is anything else."""
        for name in names:
            for told in (self.config, self.layers):
                if (value := told.get(name)) is not None:
                    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                        return value
                    raise ForedraftError(
                        f"{self.phrase} has {name} {value!r} in its config.json, where a whole "
                        "number belongs; download it again."
                    )
        return None

    def flag(self, name: str) -> bool:
        """Whether a setting is on; one that is not there is off."""
        value = self.config.get(name)
        if not isinstance(value, bool | None):
            raise ForedraftError(
                f"{self.phrase} has {name} {value!r} in its config.json, where true or false "
                "belongs; download it again."
            )
        return bool(value)


def kind_of(folder: Path, within: bool = False) -> HeadKind | None:
    """The kind of head in a folder, or None: a model, or no folder of Transformers' at all.

    `within` also finds what a whole model brings to draft for itself.
    """
    if not (folder / "config.json").is_file():
        return None
    return recognise(config_of(folder), entries(folder), within)


def read_checkpoint(
    name: str, folder: Path, allow_pickle: bool = False, within: bool = False
) -> Checkpoint:
    """The head in `folder`, called `name`; `within` as for `kind_of`.

    Pickled weights can run code when they are read, so they are only with `allow_pickle`, and even
    then PyTorch admits nothing but tensors. ForedraftError for what is no head or cannot be read.
    """
    if not (folder / "config.json").is_file():
        raise ForedraftError(
            f"{name} has no config.json, so it holds no draft head; name the folder that has it "
            "beside the weights."
        )
    config, found = config_of(folder), entries(folder)
    refuse_malformed(name, config)
    unpickled = {} if found else _unpickled(name, folder, allow_pickle)
    shapes = {tensor: entry.shape for tensor, entry in found.items()}
    shapes |= {tensor: tuple(value.shape) for tensor, value in unpickled.items()}
    kind = recognise(config, shapes, within)
    if kind is None:
        what = ", ".join(config.get("architectures") or [str(config.get("model_type"))])
        raise ForedraftError(
            f"{name} holds no draft head of a known kind: its config.json says {what}, and its "
            f"{len(shapes)} tensors are named like {next(iter(shapes), 'none')}; docs/heads.md "
            "lists what is recognised."
        )
    refuse_lossy(name, config)
    files = {tensor: entry.file for tensor, entry in found.items()}
    return Checkpoint(name, kind, config, shapes, files, unpickled)


def refuse_pickles(name: str, folder: Path) -> None:
    """Raise for a folder that has pickled weights; for one that has no others."""
    if paths := _pickles(folder):
        raise ForedraftError(
            f"{name} has only pickled weights ({paths[0].name}), which can run code when they are "
            "read; convert them to .safetensors on a machine you trust them on, or in Python allow "
            "them with load_head(…, allow_pickle=True)."
        )


def _unpickled(name: str, folder: Path, allow_pickle: bool) -> dict[str, Any]:
    paths = _pickles(folder)
    if not paths:
        raise ForedraftError(
            f"{name} has a config.json and no .safetensors weights; download the head's weights "
            "into it."
        )
    if not allow_pickle:
        refuse_pickles(name, folder)
    import torch

    tensors: dict[str, Any] = {}
    for path in paths:
        try:
            held = torch.load(path, map_location="cpu", weights_only=True)
            tensors |= {key: value for key, value in held.items() if torch.is_tensor(value)}
        except Exception as error:
            raise ForedraftError(
                f"{path} is no whole file of tensors alone, so it is not read; download it again, "
                "or use .safetensors."
            ) from error
    return tensors


def _pickles(folder: Path) -> list[Path]:
    return sorted(path for pattern in _PICKLES for path in folder.glob(pattern))
