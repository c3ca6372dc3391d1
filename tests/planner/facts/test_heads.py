"""Trained heads are told from plain drafts, and from whole models that carry heads."""

import pytest

from foredraft.planner.facts.heads import has_mtp, head_of_config, head_of_gguf, misfit
from foredraft.planner.facts.model import Head
from foredraft.targets.gguf_header import GGUFHeader
from tests.planner.facts.models import facts

PLAIN = ["model.embed_tokens.weight", "model.layers.0.self_attn.q_proj.weight", "lm_head.weight"]


@pytest.mark.parametrize(
    ("config", "tensors", "head"),
    [
        ({"architectures": ["Qwen2ForCausalLM"]}, PLAIN, None),
        ({"speculators_model_type": "eagle3"}, [], Head.EAGLE3),
        ({"speculators_model_type": "dspark"}, [], Head.DSPARK),
        ({"architectures": ["LlamaForCausalLMEagle3"]}, [], Head.EAGLE3),
        ({"architectures": ["LlamaForCausalLM"]}, ["midlayer.mlp.up_proj.weight"], Head.EAGLE3),
        ({"architectures": ["LlamaForCausalLM"]}, ["d2t", "t2d", "lm_head.weight"], Head.EAGLE3),
        ({"architectures": ["LlamaForCausalLM"], "eagle_config": {}}, [], Head.EAGLE3),
        ({"architectures": ["LlamaForCausalLM"]}, ["fc.weight", "embed_tokens.weight"], Head.EAGLE),
        ({"medusa_num_heads": 5}, [], Head.MEDUSA),
        ({}, ["medusa_lm_head.0.weight"], Head.MEDUSA),
        ({"architectures": ["DFlashDraftModel"], "model_type": "qwen3"}, [], Head.DFLASH),
        ({"dflash_config": {}}, [], Head.DFLASH),
        ({"dflash_config": {}, "markov_rank": 8}, [], Head.DSPARK),
        ({"architectures": ["Eagle2_5_VLForConditionalGeneration"]}, PLAIN, None),
        ({"model_type": "gemma4_assistant"}, [], Head.MTP),
        ({"model_type": "qwen3_5"}, ["mtp.fc.weight", "mtp.norm.weight"], Head.MTP),
        ({"num_nextn_predict_layers": 1}, [*PLAIN, "model.layers.61.eh_proj.weight"], None),
        ({"num_nextn_predict_layers": 1}, PLAIN, None),
    ],
)
def test_folders(config, tensors, head):
    assert head_of_config(config, tensors) is head


def gguf(arch, *tensors):
    return GGUFHeader({"general.architecture": arch}, dict.fromkeys(tensors))


def test_gguf():
    whole, nextn = "blk.0.attn_norm.weight", "blk.4.nextn.eh_proj.weight"
    assert head_of_gguf(gguf("qwen35", whole)) is None
    assert head_of_gguf(gguf("qwen35", whole, nextn)) is None
    assert head_of_gguf(gguf("qwen35", nextn)) is Head.MTP
    assert head_of_gguf(gguf("eagle3")) is Head.EAGLE3
    assert head_of_gguf(gguf("dflash")) is Head.DFLASH
    assert head_of_gguf(gguf("dflash", "markov_w1.weight")) is Head.DSPARK
    assert head_of_gguf(gguf("gemma4-assistant", whole)) is Head.MTP


def test_heads_inside_a_model():
    assert has_mtp(["blk.4.nextn.eh_proj.weight"])
    assert has_mtp([*PLAIN, "mtp.fc.weight"])
    assert not has_mtp(PLAIN)


def test_only_sizes_that_are_known_can_misfit():
    head = facts("head", head=Head.EAGLE3, hidden_size=None, vocab_size=None)
    assert misfit(facts(), head) is None
    assert misfit(facts(), facts("head", head=Head.EAGLE3)) is None
    assert "vocabulary size 9, not 300" in misfit(facts(), facts("head", vocab_size=9))
