"""Gemma 4's assistants against Transformers' own generator of candidates."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    Gemma4AssistantConfig,
    Gemma4AssistantForCausalLM,
    GenerationConfig,
)
from transformers.generation.candidate_generator import SinglePositionMultiTokenCandidateGenerator

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.types import ROOT
from foredraft.drafters.head import HeadDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.heads.load import is_head, load_head
from foredraft.targets.folder_config import read_config
from foredraft.targets.folder_model import build
from tests import tiny
from tests.heads.reading import features, text_of

KINDS = ["sliding_attention", "full_attention"]


def folder(path, backbone=32, clusters=0, **changes):
    torch.manual_seed(1)
    text = {
        "model_type": "gemma4_text",
        "vocab_size": tiny.VOCAB,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "global_head_dim": 16,
        "sliding_window": 8,
        "max_position_embeddings": 512,
        "initializer_range": 0.3,
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 2,
        "num_kv_shared_layers": 2,
        "layer_types": KINDS,
        "hidden_size_per_layer_input": 0,
        "vocab_size_per_layer_input": 0,
    }
    config = Gemma4AssistantConfig(
        text_config=text | changes,
        backbone_hidden_size=backbone,
        use_ordered_embeddings=clusters > 0,
        num_centroids=8,
        centroid_intermediate_top_k=clusters,
    )
    model = Gemma4AssistantForCausalLM(config)
    if clusters:
        model.masked_embedding.token_ordering.copy_(torch.randperm(tiny.VOCAB))
    model.save_pretrained(path)
    return str(path)


def theirs(name, target, text, count):
    """The likeliest tokens after a text, and the logits of each."""
    assistant = build(Path(name), read_config(Path(name)), torch.float32)
    assistant.generation_config.num_assistant_tokens = count
    generator = SinglePositionMultiTokenCandidateGenerator(
        assistant, target.model.get_input_embeddings(), GenerationConfig(max_length=100)
    )
    out = target.model(
        torch.tensor([text[:-1]]), output_hidden_states=True, return_shared_kv_states=True
    )
    ids, logits = generator.get_candidates(torch.tensor([text]), {}, out, False, 0)
    return ids[0, len(text) :].tolist(), logits[0].numpy()


@pytest.mark.parametrize("shared", [2, 0])
@pytest.mark.parametrize("clusters", [0, 3])
def test_logits(tmp_path, shared, clusters):
    own, name = (
        tiny.target("gemma4", num_kv_shared_layers=shared),
        folder(tmp_path / "g", clusters=clusters),
    )
    assert is_head(name)
    head = load_head(name, own)
    assert (head.name, head.taps, head.reach, head.parallel) == ("gemma", (6,), None, False)
    state = head.open()
    for text in (text_of(5), text_of(30)):
        drafted, expected = theirs(name, own, text, 4)
        rows = [state.read(features(own, head, text), text)]
        rows += [state.grow([token], [i + ROOT])[0] for i, token in enumerate(drafted[:-1])]
        for row, logits in zip(rows, expected, strict=True):
            ruled_out = logits == logits.min() if clusters else np.zeros(len(logits), dtype=bool)
            assert ruled_out.sum() == (20 if clusters else 0)
            assert np.isneginf(row[ruled_out]).all()
            np.testing.assert_allclose(row[~ruled_out], logits[~ruled_out], rtol=1e-4, atol=1e-5)


def test_nodes_of_a_tree_do_not_see_each_other(tmp_path):
    own, name = tiny.target("gemma4"), folder(tmp_path / "g")
    head, text = load_head(name, own), text_of(12)
    seen, state = features(own, head, text), head.open()
    state.read(seen, text)
    grown = [*state.grow([1, 2, 3], [ROOT, ROOT, 0]), *state.grow([4], [1])]
    for path, row in zip([[1], [2], [1, 3], [2, 4]], grown, strict=True):
        state.read(seen, text)
        for i, token in enumerate(path):
            last = state.grow([token], [i + ROOT])[0]
        np.testing.assert_allclose(row, last, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("temperature", [0, 0.8])
@pytest.mark.parametrize("clusters", [0, 3])
def test_the_text_is_the_targets_own(tmp_path, temperature, clusters):
    own = tiny.target("gemma4")
    head = load_head(folder(tmp_path / "g", clusters=clusters), own)
    params = SamplingParams(temperature=temperature)
    request = Request(params=params, max_new_tokens=30, draft_len=3, seed=5)
    plain = Generator(own).generate(text_of(9), request)
    drafted = Generator(own, HeadDrafter(head, own)).generate(text_of(9), request)
    assert [t.id for t in drafted.tokens] == [t.id for t in plain.tokens]
    assert drafted.stats.drafted > 0
    assert temperature == 0 or drafted.stats.accepted > 0


def test_errors(tmp_path):
    own = tiny.target("gemma4")
    name = folder(tmp_path / "a")
    with pytest.raises(
        ForedraftError, match="reads the keys and values of a Gemma 4 target, and t"
    ):
        load_head(name, tiny.target())
    with pytest.raises(
        ForedraftError, match="of hidden size 24, and tiny-gemma4 has 32; use a head"
    ):
        load_head(folder(tmp_path / "b", backbone=24), own)
    with pytest.raises(
        ForedraftError, match=r"keys of full_attention as \(2, 8\) \(heads, width\)"
    ):
        load_head(folder(tmp_path / "c", global_head_dim=8), own)
    with pytest.raises(
        ForedraftError, match="trained for a target of vocabulary size 40, and tiny"
    ):
        load_head(folder(tmp_path / "d", vocab_size=40), own)
    file = tmp_path / "a" / "model.safetensors"
    tensors = load_file(file)
    del tensors["pre_projection.weight"]
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(ForedraftError, match=r"1 tensors are missing .* such as pre_projection"):
        load_head(name, own)
    config = json.loads((tmp_path / "a" / "config.json").read_text())
    config["text_config"]["num_kv_shared_layers"] = 1
    (tmp_path / "a" / "config.json").write_text(json.dumps(config))
    with pytest.raises(ForedraftError, match=r"config\.json cannot be used \("):
        load_head(name, own)
