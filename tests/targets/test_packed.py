"""Packed weights change the layout, not the numbers; half ones round the weight, no more."""

import numpy as np
import pytest
import torch
from torch import nn

from foredraft.targets.base import Rows
from foredraft.targets.packed import HalfLinear, PackedLinear, has_half, pack
from tests import tiny

KINDS = ["llama", "qwen2", "gemma3", "qwen3_next"]
TOKENS = [(5 * i) % 31 for i in range(20)]
needs_half = pytest.mark.skipif(not has_half(), reason="needs x86 with AVX2")


def kinds_of(target):
    return {type(module) for module in target.model.modules()}


def same_logits(left, right, tolerance=1e-5):
    for count in (1, 2, 7, 20):
        a, b = (t.score([Rows(t.open(), TOKENS[:count])])[0] for t in (left, right))
        np.testing.assert_allclose(a, b, atol=tolerance)


def rounded(target, dtype):
    """Linear weights as `dtype` stores them, still float32; a tied embedding keeps its own."""
    for module in target.model.modules():
        if type(module) is nn.Linear:
            weight = module.weight.data.to(dtype).float()
            module.weight = nn.Parameter(weight, requires_grad=False)
    return target


@pytest.mark.parametrize("kind", KINDS)
def test_packed_logits_equal_plain_ones(kind):
    """qwen2 has biases; the last has layers beside plain linear ones."""
    plain, packed = tiny.target(kind), tiny.target(kind)
    assert pack(packed.model)
    assert PackedLinear in kinds_of(packed)
    same_logits(plain, packed)


@needs_half
@pytest.mark.parametrize("kind", KINDS)
def test_half_weights_are_rounded_and_nothing_else(kind):
    plain, half = rounded(tiny.target(kind), torch.float16), tiny.target(kind)
    assert pack(half.model, half=True)
    assert nn.Linear not in kinds_of(half)
    same_logits(plain, half, 1e-4)


@needs_half
def test_bfloat16_weights_keep_their_values_in_half():
    plain = rounded(tiny.target(), torch.bfloat16)
    half = rounded(tiny.target(), torch.bfloat16)
    pack(half.model, half=True)
    same_logits(plain, half, 1e-4)


@needs_half
def test_a_weight_beyond_float16_stays_float32():
    plain, half = tiny.target(), tiny.target()
    for target in (plain, half):
        target.model.model.layers[0].mlp.up_proj.weight.data[0, 0] = 70_000.0
    pack(half.model, half=True)
    assert {HalfLinear, PackedLinear} <= kinds_of(half)
    assert type(half.model.model.layers[0].mlp.up_proj) is PackedLinear


def test_packing_is_for_float32_on_the_cpu():
    target = tiny.target()
    target.model.to(torch.bfloat16)
    assert not pack(target.model)
    assert PackedLinear not in kinds_of(target)


@pytest.mark.parametrize("half", [False, pytest.param(True, marks=needs_half)])
def test_packed_models_stay_bit_stable(half):
    target = tiny.target()
    pack(target.model, half)
    assert target.bit_stable


def test_progress_counts_layers():
    heard = []
    pack(tiny.target().model, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(i + 1, 15) for i in range(15)]
