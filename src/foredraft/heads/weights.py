"""From a checkpoint's tensors to a network that is ready to draft beside its target."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from foredraft.core.errors import ForedraftError
from foredraft.heads.checkpoint import Checkpoint
from foredraft.targets.packed import pack
from foredraft.targets.torch_hf import TorchTarget


def build(
    make: Callable[[], Any],
    checkpoint: Checkpoint,
    target: TorchTarget,
    rename: Callable[[str], str] = str,
    ignored: Iterable[str] = (),
) -> Any:
    """The network `make` gives, filled, in the target's format and on its device.

    `rename` turns a parameter's name into the checkpoint's tensor; tensors named in `ignored` (or
    below one that ends with a dot) may be there and are not used. Every other tensor must belong to
    a parameter of its shape and every parameter have one: ForedraftError if not.
    """
    with torch.device("meta"):
        network = make()
    _add_biases(network, checkpoint, rename)
    names = {name: rename(name) for name in network.state_dict()}
    _compare(network, checkpoint, names, tuple(ignored))
    model = target.model
    filled = {
        name: checkpoint.tensor(tensor).to(device=model.device, dtype=model.dtype)
        for name, tensor in names.items()
    }
    network.load_state_dict(filled, assign=True)
    network = network.eval().requires_grad_(False)
    pack(network, target.weights == torch.float16)
    return network


def signature(checkpoint: Checkpoint, target: TorchTarget) -> str:
    """What a head's speed depends on, the machine aside; see Target.signature."""
    size = sum(torch.Size(shape).numel() for shape in checkpoint.shapes.values())
    where = f"{target.weights} {target.model.device} {torch.get_num_threads()} threads"
    return f"torch {torch.__version__} {checkpoint.kind} {checkpoint.name} {size} {where}"


def _add_biases(network: nn.Module, checkpoint: Checkpoint, rename: Callable[[str], str]) -> None:
    """A linear layer has a bias if its checkpoint does, whatever config.json says."""
    for name, module in network.named_modules():
        bare = isinstance(module, nn.Linear) and module.bias is None
        if bare and rename(f"{name}.bias") in checkpoint.shapes:
            module.bias = nn.Parameter(torch.empty(module.out_features, device="meta"))


def _compare(
    network: nn.Module, checkpoint: Checkpoint, names: dict[str, str], ignored: tuple[str, ...]
) -> None:
    shapes = checkpoint.shapes
    missing = sorted(set(names.values()) - set(shapes))
    if missing:
        raise ForedraftError(
            f"{checkpoint.phrase} lacks {_count(missing)} that its config.json calls for, such as "
            f"{missing[0]}; download it again."
        )
    below = tuple(name for name in ignored if name.endswith("."))
    extra = sorted(
        name
        for name in set(shapes) - set(names.values())
        if not (name in ignored or name.startswith(below) or name.endswith("rotary_emb.inv_freq"))
    )
    if extra:
        raise ForedraftError(
            f"{checkpoint.phrase} has {_count(extra)} that its config.json does not account for, "
            f"such as {extra[0]}; it is of a variant that foredraft does not know."
        )
    for name, parameter in network.state_dict().items():
        tensor = names[name]
        if tuple(parameter.shape) != tuple(shapes[tensor]):
            raise ForedraftError(
                f"{checkpoint.phrase} has a tensor {tensor} of shape {_shape(shapes[tensor])}, "
                f"where its config.json and its target call for {_shape(parameter.shape)}; it "
                "belongs to another target, or its files do not belong together."
            )


def _count(names: list[str]) -> str:
    return f"{len(names)} tensor{'s' if len(names) > 1 else ''}"


def _shape(shape: Iterable[int]) -> str:
    return " × ".join(f"{size:,}" for size in shape)
