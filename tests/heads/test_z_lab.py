"""DFlash in z-lab's layout: the same logits as its description computed plainly, and as
Transformers' own model of the kind."""

import math

import numpy as np
import pytest
import torch
from transformers import MuseGlimmerAssistantConfig, MuseGlimmerAssistantModel
from transformers.cache_utils import DFlashCache

from foredraft.heads.load import load_head
from tests import tiny
from tests.heads import folders
from tests.heads.test_block import Told, chain

TEXT = [int(t) for t in np.random.default_rng(0).integers(0, 30, 30)]


def rms(x, weight, eps=1e-5):
    return weight * x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt()


def turned(x, positions, theta=10000.0):
    """Rotary positions: [positions, heads, width], the halves of a head as pairs."""
    half = x.shape[-1] // 2
    angles = positions[:, None, None] * theta ** (-torch.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    return torch.cat(
        [
            first * angles.cos() - second * angles.sin(),
            second * angles.cos() + first * angles.sin(),
        ],
        dim=-1,
    )


def plainly(tensors, context, block, sees=lambda row, seen: True):
    """The hidden states of a block's rows [B, h] after `context`, the target's hidden states."""
    context = rms(context @ tensors["fc.weight"].T, tensors["hidden_norm.weight"])
    start, x = len(context), block
    for layer in range(2):
        w = {key[9:-7]: t for key, t in tensors.items() if key.startswith(f"layers.{layer}.")}
        y = rms(x, w["input_layernorm"])
        both = torch.cat([context, y])
        places = torch.arange(len(both))
        q = rms((y @ w["self_attn.q_proj"].T).view(-1, 4, 8), w["self_attn.q_norm"])
        k = rms((both @ w["self_attn.k_proj"].T).view(-1, 2, 8), w["self_attn.k_norm"])
        v = (both @ w["self_attn.v_proj"].T).view(-1, 2, 8)
        q, k = turned(q, places[start:]), turned(k, places)
        mixed = torch.zeros_like(q)
        for row in range(len(x)):
            for head in range(4):
                seen = [j for j in range(len(both)) if sees(start + row, j)]
                scores = k[seen, head // 2] @ q[row, head] / math.sqrt(8)
                mixed[row, head] = scores.softmax(0) @ v[seen, head // 2]
        x = x + mixed.flatten(1) @ w["self_attn.o_proj"].T
        y = rms(x, w["post_attention_layernorm"])
        gate = torch.nn.functional.silu(y @ w["mlp.gate_proj"].T)
        x = x + (gate * (y @ w["mlp.up_proj"].T)) @ w["mlp.down_proj"].T
    return rms(x, tensors["norm.weight"])


def expected(target, tensors, ids, text, sees=lambda row, seen: True):
    """Logits [B, V] after a text, from the model's own `output_hidden_states`."""
    model = target.model
    states = model(torch.tensor([text[:-1]]), output_hidden_states=True).hidden_states
    context = torch.cat([states[layer + 1][0] for layer in ids], dim=-1)
    rows = torch.tensor([text[-1], *[30] * (folders.BLOCK - 1)])
    block = model.get_input_embeddings().weight[rows]
    return plainly(tensors, context, block, sees) @ model.lm_head.weight.T


@pytest.mark.parametrize("ids", [(0, 1), (0, 3, 5)])  # 5: what the last norm gives
@pytest.mark.parametrize(
    ("layers", "sees"),
    [
        ({}, lambda row, seen: True),
        ({"is_causal": True}, lambda row, seen: seen <= row),
        (
            {"layer_types": ["sliding_attention"] * 2, "sliding_window": 4},
            lambda row, seen: row - 4 < seen <= row,
        ),
        (
            {"layer_types": ["sliding_attention"] * 2, "sliding_window": 4, "is_causal": False},
            lambda row, seen: abs(row - seen) < 4,
        ),
    ],
)
def test_the_same_logits_as_computed_plainly(tmp_path, ids, layers, sees):
    target = tiny.target(num_hidden_layers=6)
    tensors = folders.dflash(len(ids))
    config = folders.z_lab(ids=ids, num_target_layers=6, use_sliding_window=True, **layers)
    head = load_head(str(folders.write(tmp_path / "h", config, tensors)), target)
    assert head.taps == tuple(layer + 1 for layer in ids)
    target.tap(head.taps)
    state, cached = head.open(), target.open()
    for end in (2, 3, 9, 20, 12):
        target.prefill(cached, TEXT[: end - 1])
        state.rewind(min(len(state.tokens), end - 1))
        got = chain(state, cached, TEXT[:end], TEXT[end : end + head.reach - 1])
        want = expected(target, tensors, ids, TEXT[:end], sees)
        np.testing.assert_allclose(got, want[1:], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("window", [None, 5])
def test_transformers_own_checkpoints_give_its_own_hidden_states(tmp_path, window):
    target = tiny.target()
    kind = "full_attention" if window is None else "sliding_attention"
    config = MuseGlimmerAssistantConfig(
        hidden_size=folders.HIDDEN,
        intermediate_size=folders.WIDE,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        layer_types=[kind] * 2,
        sliding_window=window or 100,
        block_size=folders.BLOCK,
        mask_token_id=30,
        target_layer_ids=[0, 1],
    )
    torch.manual_seed(0)
    model = MuseGlimmerAssistantModel(config).eval().requires_grad_(False)
    for name, weight in model.named_parameters():
        weight.copy_(0.3 * torch.randn_like(weight) + ("norm" in name))
    model.save_pretrained(tmp_path)
    head = load_head(str(tmp_path), target)
    assert (head.name, head.taps) == ("dflash", (1, 2))
    hidden = torch.randn(20, 2 * folders.HIDDEN)
    got = chain(head.open(), Told(hidden), TEXT[:21], [1] * (head.reach - 1))
    cache = DFlashCache(config=config)
    cache.set_previous_accepted_tokens(20)
    rows = torch.tensor([[TEXT[20], *[30] * (folders.BLOCK - 1)]])
    out = model(
        noise_embeds=target.model.get_input_embeddings()(rows),
        context_hidden_states=hidden[None],
        cache=cache,
    )
    want = target.model.lm_head(out.last_hidden_state[0])
    np.testing.assert_allclose(got, want[1:], rtol=1e-4, atol=1e-4)
