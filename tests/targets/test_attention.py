"""Grouped heads attend as the library does: chains, trees, windows, long prefills."""

import numpy as np
import pytest
import torch

from foredraft.targets.attention import group_heads
from foredraft.targets.base import Rows
from tests import tiny

TOKENS = [(7 * i + i * i) % 31 for i in range(120)]


@pytest.mark.parametrize("kind", ["llama", "qwen2", "gemma3", "qwen3_next"])
@pytest.mark.parametrize("bitwise", [False, True])
def test_logits_equal_the_librarys(kind, bitwise):
    plain, grouped = tiny.target(kind), tiny.target(kind)
    assert group_heads(grouped.model)
    bitwise = bitwise and plain.bit_stable
    left, right = (target.open(bitwise=bitwise) for target in (plain, grouped))
    for target, sequence in ((plain, left), (grouped, right)):
        target.prefill(sequence, TOKENS[:90])
    for count in (1, 5, 2, 8):
        at = len(left.tokens)
        rows = TOKENS[at : at + count]
        (a,), (b,) = plain.score([Rows(left, rows)]), grouped.score([Rows(right, rows)])
        np.testing.assert_allclose(a, b, atol=1e-4)
        for target, sequence in ((plain, left), (grouped, right)):
            target.commit(sequence, range(count))


@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_trees_too(kind):
    plain, grouped = tiny.target(kind), tiny.target(kind)
    group_heads(grouped.model)
    logits = []
    for target in (plain, grouped):
        sequence = target.open()
        target.prefill(sequence, TOKENS[:20])
        logits.append(target.score([Rows(sequence, [1, 2, 3, 4, 5], [-1, 0, 0, 1, 2])])[0])
    np.testing.assert_allclose(*logits, atol=1e-4)


def test_grouped_models_stay_bit_stable():
    target = tiny.target()
    group_heads(target.model)
    assert target.bit_stable


def test_keys_are_not_copied_for_every_head(monkeypatch):
    """Four query heads over two: PyTorch's attention is given the two as they lie in the cache."""
    target = tiny.target()
    group_heads(target.model)
    sequence = target.open()
    target.prefill(sequence, TOKENS[:90])
    seen = []
    attend = torch.nn.functional.scaled_dot_product_attention

    def watch(query, key, value, **how):
        seen.append((key.shape[1], key.untyped_storage().data_ptr()))
        return attend(query, key, value, **how)

    monkeypatch.setattr("foredraft.targets.attention.scaled_dot_product_attention", watch)
    target.score([Rows(sequence, TOKENS[90:95])])
    layers = sequence.cache.cache.layers
    assert seen == [(2, layer.keys.untyped_storage().data_ptr()) for layer in layers]


def test_other_attention_is_left_alone():
    model = tiny.model()
    model.set_attn_implementation("eager")
    assert not group_heads(model)
    assert model.config._attn_implementation == "eager"


def test_a_model_that_asks_for_the_name_is_left_alone():
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(vocab_size=32, n_embd=16, n_layer=1, n_head=2))
    assert not group_heads(model)
