"""What a head takes from its target: embeddings, the output matrix, sizes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from foredraft.core.errors import ForedraftError
from foredraft.heads.checkpoint import Checkpoint
from foredraft.targets.torch_hf import TorchTarget

Turned = Callable[[torch.Tensor], torch.Tensor]


def text_config(target: TorchTarget) -> Any:
    """The configuration of what generates text."""
    return target.model.config.get_text_config(decoder=True)


def embeddings(target: TorchTarget) -> Turned:
    """Token ids → the target's embeddings as they are stored: heads are trained without the factor
    by which some models scale them."""
    weight = target.model.get_input_embeddings().weight
    return lambda ids: nn.functional.embedding(ids, weight)


def output(target: TorchTarget) -> Turned:
    """Hidden states → the target's logits, as its output matrix gives them."""
    matrix: Turned = target.model.get_output_embeddings()
    return matrix


def check_sizes(
    checkpoint: Checkpoint,
    target: TorchTarget,
    hidden_size: int | None,
    vocab_size: int | None = None,
) -> None:
    """Raise for a head of another target; the sizes are those of the target it was trained for,
    None if its files do not say, or say its vocabulary in the usual place."""
    vocab_size = checkpoint.number("vocab_size") if vocab_size is None else vocab_size
    for what, trained, real in (
        ("hidden size", hidden_size, text_config(target).hidden_size),
        ("vocabulary size", vocab_size, target.vocab_size),
    ):
        if trained is not None and trained != real:
            raise ForedraftError(
                f"{checkpoint.phrase} was trained for a target of {what} {trained:,}, and "
                f"{target.name} has {real:,}; use a head made for this target."
            )


def check_taps(checkpoint: Checkpoint, target: TorchTarget, taps: tuple[int, ...]) -> None:
    """Raise if the head reads layers that the target does not have."""
    layers = text_config(target).num_hidden_layers
    if not all(0 <= tap <= layers for tap in taps):
        raise ForedraftError(
            f"{checkpoint.phrase} reads the hidden states {', '.join(map(str, taps))}, and "
            f"{target.name} has those of 0 to {layers}; use a head made for this target."
        )
