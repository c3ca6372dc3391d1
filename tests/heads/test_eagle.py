"""EAGLE against a plain rewriting of what its paper says, without a cache."""

import numpy as np
import pytest
import torch
from torch.nn.functional import silu

from foredraft.core.errors import ForedraftError
from foredraft.heads.load import load_head
from tests import tiny
from tests.heads import folders
from tests.heads.features import Random

TARGET = tiny.target()
TEXT = [3, 1, 4, 1, 5, 9, 2, 6]


def norm(x, weight):
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight


def rotated(x):
    """[rows, heads, 8] turned by its row, base 10000."""
    angles = torch.arange(len(x))[:, None] / 10000 ** (torch.arange(0, 8, 2) / 8)
    cos, sin = torch.cat([angles, angles], 1).cos(), torch.cat([angles, angles], 1).sin()
    turned = torch.cat([-x[..., 4:], x[..., :4]], -1)
    return x * cos[:, None] + turned * sin[:, None]


def attended(x, held, prefix):
    def heads(name):
        out = x @ held[f"{prefix}{name}_proj.weight"].T + held.get(f"{prefix}{name}_proj.bias", 0)
        return out.unflatten(-1, (-1, 8))

    q, k, v = rotated(heads("q")), rotated(heads("k")), heads("v")
    k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
    scores = torch.einsum("rhw,shw->hrs", q, k) / 8**0.5
    seen = torch.ones(len(x), len(x)).tril().bool()
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    return torch.einsum("hrs,shw->rhw", weights, v).flatten(1) @ held[f"{prefix}o_proj.weight"].T


def expected(held, layers, features, tokens):
    """Logits [V] after `tokens` (the first has no row): features where the target has them, the
    head's own output beyond."""
    embed, lm_head = TARGET.model.get_input_embeddings().weight, TARGET.model.lm_head.weight
    features = list(features)
    while True:
        inputs = torch.cat([embed[tokens[1 : len(features) + 1]], torch.stack(features)], -1)
        x = inputs @ held["fc.weight"].T + held.get("fc.bias", 0)
        for i in range(layers):
            name = f"layers.{i}."
            normed = norm(x, held[f"{name}input_layernorm.weight"]) if i else x
            x = x + attended(normed, held, f"{name}self_attn.")
            normed = norm(x, held[f"{name}post_attention_layernorm.weight"])
            gate = silu(normed @ held[f"{name}mlp.gate_proj.weight"].T)
            up = normed @ held[f"{name}mlp.up_proj.weight"].T
            x = x + (gate * up) @ held[f"{name}mlp.down_proj.weight"].T
        if len(features) == len(tokens) - 1:
            return (x[-1] @ lm_head.T).numpy()
        features.append(x[-1])


@pytest.mark.parametrize(
    ("layers", "bias", "own"), [(1, True, False), (1, False, False), (2, True, True)]
)
def test_the_paper(tmp_path, layers, bias, own):
    held = folders.eagle(layers, bias)
    if own:  # as the checkpoints have it: a copy of the target's
        held["embed_tokens.weight"] = TARGET.model.get_input_embeddings().weight.clone()
    if bias:
        held["layers.0.self_attn.q_proj.bias"] = torch.arange(32) / 32
    config = folders.llama(num_hidden_layers=layers, bias=bias)
    head = load_head(str(folders.write(tmp_path / "h", config, held)), TARGET)
    assert (head.name, head.taps) == ("eagle", (2,))
    features = Random(folders.HIDDEN)
    state = head.open()
    true = features.hidden(head.taps, 0, len(TEXT) - 1)
    found = [state.read(features, TEXT)]
    drafted = [7, 8, 9]
    for i, token in enumerate(drafted):
        found.append(state.grow([token], [i - 1])[0])
    for i, logits in enumerate(found):
        wanted = expected(held, layers, true, TEXT + drafted[:i])
        np.testing.assert_allclose(logits, wanted, rtol=1e-4, atol=1e-5 * abs(wanted).max())


def test_the_targets_own_hidden_states_are_of_its_size(tmp_path):
    config = folders.llama(size=64, bias=True)
    folder = folders.write(tmp_path / "h", config, folders.eagle())
    with pytest.raises(ForedraftError, match="hidden size 64, and tiny-llama has 32"):
        load_head(str(folder), TARGET)
