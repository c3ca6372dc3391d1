"""An EAGLE-3 head before its first lesson: what need not be learnt is taken from the target, or
found by least squares."""

from collections.abc import Iterable

import torch

from foredraft.heads.eagle3 import Eagle3, Eagle3Settings
from foredraft.heads.layers import layer_config
from foredraft.training.states import Example
from foredraft.training.teacher import Teacher, weight_of

_NARROW = 1024
_WIDENED = 4 / 3
"""An MLP of this many times the hidden size, and at least so wide, keeps a step of the head cheap
beside one of the target."""
_DAMPING = 3e-3
_LEAST = 1e-4


def fresh(teacher: Teacher, taps: int, ids: torch.Tensor) -> Eagle3:
    """A head that reads `taps` hidden states and drafts the tokens `ids`.

    Attention, MLP and norms are those of the target's last layer as far as the shapes agree, with
    the units of the MLP that weigh most; the output rows are the target's and stay so.
    """
    config, layer = teacher.config, teacher.last_layer
    size, wide = config.hidden_size, config.intermediate_size
    units = min(wide, max(_NARROW, round(_WIDENED * size)))
    raw = config.to_dict() | {
        "num_hidden_layers": 1,
        "layer_types": ["full_attention"],
        "intermediate_size": units,
        "attention_bias": False,
        "mlp_bias": False,
    }
    network = Eagle3(layer_config(raw), Eagle3Settings(size, taps, len(ids)))
    for weight in network.parameters():
        if weight.dim() == 2:
            torch.nn.init.normal_(weight, std=_SPREAD)
    _take(network.layers[0], teacher.last_layer, units)
    network.norm.weight.data.copy_(gain(teacher.norm, size))
    network.lm_head.weight.data.copy_(teacher.rows(ids))
    network.lm_head.requires_grad_(False)
    return network


@torch.no_grad()
def _take(first: Any, layer: Any, units: int) -> None:
    """Fill the head's layer from a decoder layer, if that is built like Llama's."""
    attention, mlp = getattr(layer, "self_attn", None), getattr(layer, "mlp", None)
    if all(hasattr(attention, f"{name}_proj") for name in "qkvo"):
        for name in "qkv":
            to, weight = (_projection(of, name) for of in (first.self_attn, attention))
            to[:, -weight.shape[1] :] = weight
        first.self_attn.o_proj.weight.copy_(weight_of(attention.o_proj))
        first.hidden_norm.weight.copy_(gain(layer.input_layernorm, len(first.hidden_norm.weight)))
    if all(hasattr(mlp, f"{name}_proj") for name in ("gate", "up", "down")):
        ...


def scale_of(examples: Iterable[Example], width: int) -> torch.Tensor:
    """What brings each number of the taps [width] to length 1 on average: some are a thousand times
    as large as others, and learning by small steps fits none then."""
    sums, count = torch.zeros(width, dtype=torch.float64), 0
    for example in examples:
        sums += example.hidden[:, :width].double().square().sum(0)
        count += len(example.hidden)
    return (sums / max(count, 1)).sqrt().clamp(min=_LEAST).reciprocal().float()


def fit(network: Eagle3, examples: Iterable[Example], scale: torch.Tensor) -> None:
    """Set the layer that joins the taps so that it tells, as well as a linear layer can, what the
    target's output matrix will read one token on (ridge regression)."""
    width, size = scale.numel(), network.norm.weight.numel()
    squares, products = torch.zeros(width, width), torch.zeros(width, size)
    for example in examples:
        hidden = example.hidden[max(0, example.answer_from - 2) :].float()
        taps = hidden[:-1, :width] * scale
        squares += taps.T @ taps
        products += taps.T @ (hidden[1:, width:] / network.norm.weight)
    squares.diagonal().add_(_DAMPING * squares.diagonal().mean())
    network.fc.weight.data.copy_(torch.linalg.solve(squares, products).T)
