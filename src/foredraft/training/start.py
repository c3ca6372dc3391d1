"""An EAGLE-3 head before its first lesson: what least squares can find need not be learnt."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import torch

from foredraft.heads.eagle3 import Eagle3, Eagle3Settings
from foredraft.heads.layers import layer_config
from foredraft.targets.masks import FULL
from foredraft.training.last import LastLayer
from foredraft.training.states import States
from foredraft.training.teacher import Teacher

_NARROW = 1024
_WIDENED = 8 / 3
"""The MLP is this many times as wide as the hidden state, and at least so wide: an MLP as wide as
the target's takes twice the time to train and to draft with, and gains little."""
_SPREAD = 0.02
_DAMPING = 3e-3
_LEAST = 1e-4
_SAMPLE = 32
_PLANES = 6


def fresh(teacher: Teacher, taps: Sequence[int], ids: torch.Tensor) -> Eagle3:
    """A head that reads hidden states at `taps` and drafts the tokens `ids`. The last norm and the
    output rows are the target's, and the rows stay so; attention and MLP add nothing as yet."""
    config, size = teacher.config, teacher.config.hidden_size
    raw = config.to_dict() | {
        "num_hidden_layers": 1,
        "layer_types": [FULL],
        "num_key_value_heads": config.num_attention_heads,
        "intermediate_size": min(config.intermediate_size, max(_NARROW, round(_WIDENED * size))),
        "attention_bias": False,
        "mlp_bias": False,
    }
    network = Eagle3(layer_config(raw), Eagle3Settings(size, len(taps), len(ids)))
    for weight in network.parameters():
        if weight.dim() == 2:
            torch.nn.init.normal_(weight, std=_SPREAD)
    first: Any = network.layers[0]
    for last in (first.self_attn.o_proj, first.mlp.down_proj):
        torch.nn.init.zeros_(last.weight)
    norm: Any = network.norm
    norm.weight.data.copy_(teacher.gain())
    output: Any = network.lm_head
    output.weight.data.copy_(teacher.rows(ids))
    output.requires_grad_(False)
    return network


def scale_of(states: States) -> torch.Tensor:
    """What brings each number of the taps [taps · H] to length 1 on average: some are a thousand
    times as large as others, and no one learning rate suits them all."""
    width = len(states.manifest.taps) * states.manifest.hidden_size
    sums, count = torch.zeros(width, dtype=torch.float64), 0
    for example in states.examples():
        sums += example.hidden[:, :width].double().square().sum(0)
        count += len(example.hidden)
    return (sums / count).sqrt().clamp(min=_LEAST).reciprocal().float()


@torch.no_grad()
def fit(network: Eagle3, teacher: Teacher, states: States, scale: torch.Tensor) -> None:
    """Make the head the best linear one, followed by the target's last MLP where that can be had.

    What joins the taps, and half of the attention heads, tell what that MLP would read one token
    later (or without it, what the output matrix would). These heads look at their own row alone
    and carry its token, which the layer reads nowhere else; to learn all that takes long.
    """
    width, size = len(scale), teacher.config.hidden_size
    last = LastLayer.of(teacher, states.manifest.taps)
    if last is not None:
        last.lend(network, islice(states.examples(), _SAMPLE))
    squares, products = torch.zeros(width + size, width + size), torch.zeros(width + size, size)
    first: Any = network.layers[0]
    gain = teacher.gain()
    for example in states.examples():
        begin = max(0, example.answer_from - 2)
        hidden = example.hidden.float()
        told = hidden[:, width:] / gain if last is None else last.before_mlp(example)
        embedded = first.input_layernorm(teacher.embed(example.tokens[begin + 1 :]))
        read = torch.cat([hidden[begin:-1, :width] * scale, embedded], 1)
        squares += read.T @ read
        products += read.T @ told[begin + 1 :]
    squares.diagonal().add_(_DAMPING * squares.diagonal().mean())
    found = torch.linalg.solve(squares, products).T
    network.fc.weight.copy_(found[:, :width])
    _carry(network, found[:, width:], _usual(network, teacher, states, scale))


def _usual(network: Eagle3, teacher: Teacher, states: States, scale: torch.Tensor) -> torch.Tensor:
    """A vector [2h] whose product with what attention reads is about 1 at every row."""
    rows = []
    first: Any = network.layers[0]
    for example in islice(states.examples(), _SAMPLE):
        fused = network.fuse(example.hidden[:-1, : len(scale)].float() * scale)[0]
        embedded = first.input_layernorm(teacher.embed(example.tokens[1:]))
        rows.append(torch.cat([embedded, first.hidden_norm(fused)], 1))
    mean = torch.cat(rows).mean(0)
    return mean / mean.square().sum()


def _carry(network: Eagle3, weight: torch.Tensor, usual: torch.Tensor) -> None:
    """Let the first half of the attention heads add `weight` [h, h] times a row's embedding.

    Their queries and keys are the same at all rows but for the rotation, in those of its planes
    that turn fastest, so a row matches its own key best. As many directions are carried as there
    is room for, the largest first.
    """
    first: Any = network.layers[0]
    attention, width = first.self_attn, network.config.head_dim
    size, heads = weight.shape[0], (network.config.num_attention_heads + 1) // 2
    room = heads * width
    same = torch.zeros(width, len(usual))
    same[: min(_PLANES, width // 2)] = width**0.5 * usual
    left, lengths, right = torch.linalg.svd(weight)
    lengths = lengths[:room].sqrt()
    for linear in (attention.q_proj, attention.k_proj):
        linear.weight[:room] = same.repeat(heads, 1)
    attention.v_proj.weight[:room] = 0
    count = len(lengths)
    attention.v_proj.weight[:count, :size] = lengths[:, None] * right[:count]
    attention.o_proj.weight[:, :count] = left[:, :count] * lengths
