"""Packed weights change the layout, not the numbers."""

import numpy as np
import pytest
import torch

from foredraft.targets.base import Rows
from foredraft.targets.packed import PackedLinear, pack
from tests import tiny


@pytest.mark.parametrize("kind", ["llama", "qwen2", "gemma3", "qwen3_next"])
def test_packed_logits_equal_plain_ones(kind):
    """qwen2 has biases; the last has layers beside plain linear ones."""
    plain, packed = tiny.target(kind), tiny.target(kind)
    assert pack(packed.model)
    assert any(isinstance(module, PackedLinear) for module in packed.model.modules())
    tokens = [(5 * i) % 31 for i in range(20)]
    for count in (1, 2, 7, 20):
        left, right = (t.score([Rows(t.open(), tokens[:count])])[0] for t in (plain, packed))
        np.testing.assert_allclose(left, right, atol=1e-5)


def test_packing_is_for_float32_on_the_cpu():
    target = tiny.target()
    target.model.to(torch.bfloat16)
    assert not pack(target.model)
    assert not any(isinstance(module, PackedLinear) for module in target.model.modules())


def test_packed_models_stay_bit_stable():
    target = tiny.target()
    pack(target.model)
    assert target.bit_stable
