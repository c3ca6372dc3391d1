"""EAGLE-3 against what speculators computes from the same files (record.py)."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from foredraft.core.errors import ForedraftError
from foredraft.heads.load import load_head
from tests import tiny
from tests.heads import folders
from tests.heads.features import Random
from tests.heads.record import HIDDEN, RECORDED, ROWS, STEPS, VOCAB

TARGET = tiny.target(hidden_size=HIDDEN, vocab_size=VOCAB, num_hidden_layers=6)


class Given:
    """Hidden states as they were recorded."""

    def __init__(self, states):
        self._states = states

    def hidden(self, taps, start, end):
        return self._states[start:end]


def drafted(head, recorded, rows):
    """The head's logits where speculators' training unrolls: [steps, rows, V], draft tokens only
    where the tokens are known."""
    tokens, found = recorded["tokens"].tolist(), []
    for row in rows:
        state = head.open()
        logits = [state.read(Given(recorded["hidden"]), tokens[: row + 2])]
        for step in range(1, STEPS):
            logits.append(state.grow([tokens[row + 1 + step]], [step - 2])[0])
        found.append(np.stack(logits))
    return np.stack(found, 1)


def agree(head, recorded):
    rows = range(ROWS - STEPS)  # beyond, speculators pads
    found, wanted = drafted(head, recorded, rows), recorded["logits"][:, : len(rows)].numpy()
    ids = head.vocabulary.ids
    if ids is not None:
        others = np.setdiff1d(np.arange(VOCAB), ids)
        assert np.isneginf(found[..., others]).all()
        found = found[..., ids]
    assert abs(wanted).max() > 1
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * abs(wanted).max())


CASES = sorted(path.name for path in RECORDED.glob("eagle3*"))


@pytest.mark.parametrize("name", CASES)
def test_speculators(name):
    head = load_head(str(RECORDED / name), TARGET)
    recorded = load_file(RECORDED / name / "recorded.st")
    config = json.loads((RECORDED / name / "config.json").read_text())
    assert head.taps == tuple(config["eagle_aux_hidden_state_layer_ids"])
    agree(head, recorded)


def test_every_setting_is_recorded():
    assert len(CASES) == 5
    said = [(RECORDED / name / "config.json").read_text() for name in CASES]
    for flag in ("norm_before_residual", "norm_before_fc", "fc_norm", "norm_output"):
        assert any(f'"{flag}": true' in config for config in said)


@pytest.mark.parametrize("name", ["eagle3", "eagle3-norm-before-residual"])
def test_the_layout_of_safeai(tmp_path, name):
    """The same head, its tensors and settings named as SafeAI and SpecForge do."""
    config = json.loads((RECORDED / name / "config.json").read_text())
    tensors = load_file(RECORDED / name / "model.safetensors")
    flat = config["transformer_layer_config"] | {
        "architectures": ["LlamaForCausalLMEagle3"],
        "draft_vocab_size": config["draft_vocab_size"],
        "norm_before_residual": config["norm_before_residual"],
        "rope_theta": flat_theta(config),
        # There, a layer is named by its output: one less than Transformers' index.
        "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 2, 3]},
    }
    del flat["rope_parameters"]
    renamed = {key.replace("layers.0.", "midlayer."): value for key, value in tensors.items()}
    head = load_head(str(folders.write(tmp_path / "h", flat, renamed)), TARGET)
    assert head.taps == (2, 3, 4)
    agree(head, load_file(RECORDED / name / "recorded.st"))


def flat_theta(config):
    return config["transformer_layer_config"]["rope_parameters"]["rope_theta"]


def test_the_rotation_is_the_configs(tmp_path):
    tensors, texts = folders.eagle3(), []
    for theta in ({}, {"rope_theta": 10000.0}, {"rope_theta": 100.0}):
        config = folders.llama(draft_vocab_size=folders.DRAFTED, **theta)
        folder = folders.write(tmp_path / f"h{len(texts)}", config, tensors)
        state = load_head(str(folder), tiny.target(num_hidden_layers=6)).open()
        texts.append(state.read(Random(32), [1, 2, 3, 4, 5]))
    np.testing.assert_array_equal(texts[0], texts[1])  # SafeAI's leave it out
    ids = np.isfinite(texts[0])
    assert abs(texts[0][ids] - texts[2][ids]).max() > 1e-3


def test_biases_are_where_the_tensors_are(tmp_path):
    plain = folders.eagle3()
    biased = plain | {"midlayer.self_attn.q_proj.bias": torch.arange(32.0) / 8}
    config = folders.llama(draft_vocab_size=folders.DRAFTED)
    target, text = tiny.target(num_hidden_layers=6), [1, 2, 3, 4, 5]
    logits = [
        load_head(str(folders.write(tmp_path / str(i), config, tensors)), target)
        .open()
        .read(Random(32), text)
        for i, tensors in enumerate((plain, biased))
    ]
    ids = np.isfinite(logits[0])
    assert abs(logits[0][ids] - logits[1][ids]).max() > 1e-3
    config["attention_bias"] = True
    with pytest.raises(ForedraftError, match="lacks 3 tensors"):
        load_head(str(folders.write(tmp_path / "c", config, biased)), target)


def test_a_head_narrower_than_its_target(tmp_path):
    tensors = folders.eagle3(size=16)
    config = folders.llama(size=16, draft_vocab_size=folders.DRAFTED, target_hidden_size=32)
    target = tiny.target(num_hidden_layers=6)
    with pytest.raises(ForedraftError, match="it brings no embeddings or no output matrix"):
        load_head(str(folders.write(tmp_path / "h", config, tensors)), target)
    tensors["embed_tokens.weight"] = torch.randn(folders.VOCAB, 16)
    head = load_head(str(folders.write(tmp_path / "h", config, tensors)), target)
    assert np.isfinite(head.open().read(Random(32), [1, 2, 3])).sum() == folders.DRAFTED


def test_what_a_head_takes_from_its_target(tmp_path):
    """Bringing copies of the target's embeddings and output matrix changes nothing."""
    target = tiny.target(num_hidden_layers=6)
    tensors = folders.eagle3(draft_vocab=None)
    del tensors["lm_head.weight"]
    own = tensors | {
        "embed_tokens.weight": target.model.get_input_embeddings().weight.clone(),
        "lm_head.weight": target.model.lm_head.weight.clone(),
    }
    config = folders.llama(architectures=["LlamaForCausalLMEagle3"])
    states = [
        load_head(str(folders.write(tmp_path / str(i), config, held)), target).open()
        for i, held in enumerate((tensors, own))
    ]
    first, second = (state.read(Random(32), [1, 2, 3]) for state in states)
    np.testing.assert_allclose(first, second, rtol=1e-5)
    assert np.isfinite(first).all()


def test_other_numbers_of_taps_must_be_named(tmp_path):
    tensors, target = folders.eagle3(taps=2), tiny.target(num_hidden_layers=6)
    config = folders.llama(draft_vocab_size=folders.DRAFTED)
    with pytest.raises(ForedraftError, match="reads 2 hidden states and does not say which"):
        load_head(str(folders.write(tmp_path / "h", config, tensors)), target)
    config["eagle_aux_hidden_state_layer_ids"] = [0, 6]
    assert load_head(str(folders.write(tmp_path / "h", config, tensors)), target).taps == (0, 6)
