"""Trained heads are told from plain drafts, and from whole models that carry heads."""

import pytest

from foredraft.heads.kind import HeadKind, has_mtp, recognise

PLAIN = ["model.embed_tokens.weight", "model.layers.0.self_attn.q_proj.weight", "lm_head.weight"]


@pytest.mark.parametrize(
    ("config", "tensors", "kind"),
    [
        ({"architectures": ["Qwen2ForCausalLM"]}, PLAIN, None),
        ({"speculators_model_type": "eagle3"}, [], HeadKind.EAGLE3),
        ({"speculators_model_type": "dspark"}, [], HeadKind.DSPARK),
        ({"architectures": ["LlamaForCausalLMEagle3"]}, [], HeadKind.EAGLE3),
        ({"architectures": ["LlamaForCausalLM"]}, ["midlayer.mlp.up_proj.weight"], HeadKind.EAGLE3),
        (
            {"architectures": ["LlamaForCausalLM"]},
            ["d2t", "t2d", "lm_head.weight"],
            HeadKind.EAGLE3,
        ),
        ({"architectures": ["LlamaForCausalLM"], "eagle_config": {}}, [], HeadKind.EAGLE3),
        (
            {"architectures": ["LlamaForCausalLM"]},
            ["fc.weight", "embed_tokens.weight"],
            HeadKind.EAGLE,
        ),
        ({"speculators_model_type": "peagle"}, [], HeadKind.PEAGLE),
        ({"architectures": ["LlamaForCausalLMEagle3"], "ptd_token_id": 3}, [], HeadKind.PEAGLE),
        ({"architectures": ["LlamaForCausalLM"]}, ["d2t", "mask_hidden"], HeadKind.PEAGLE),
        ({"architectures": ["LlamaForCausalLM"], "draft_vocab_size": 32000}, [], HeadKind.EAGLE3),
        ({"hydra_num_heads": 4}, [], HeadKind.HYDRA),
        ({"medusa_num_heads": 5}, [], HeadKind.MEDUSA),
        ({}, ["medusa_lm_head.0.weight"], HeadKind.MEDUSA),
        ({"architectures": ["DFlashDraftModel"], "model_type": "qwen3"}, [], HeadKind.DFLASH),
        ({"dflash_config": {}}, [], HeadKind.DFLASH),
        ({"dflash_config": {}, "markov_rank": 8}, [], HeadKind.DSPARK),
        ({"architectures": ["Eagle2_5_VLForConditionalGeneration"]}, PLAIN, None),
        ({"model_type": "gemma4_assistant"}, [], HeadKind.MTP),
        ({"model_type": "qwen3_5"}, ["mtp.fc.weight", "mtp.norm.weight"], HeadKind.MTP),
        ({"model_type": "qwen3_5"}, ["mtp.fc.weight", "mtp.layers.0.mlp.x.weight"], HeadKind.MTP),
        ({"num_nextn_predict_layers": 1}, [*PLAIN, "model.layers.61.eh_proj.weight"], None),
        ({"num_nextn_predict_layers": 1}, PLAIN, None),
    ],
)
def test_kinds(config, tensors, kind):
    assert recognise(config, tensors) is kind


def test_heads_inside_a_model():
    config = {"architectures": ["DeepseekV3ForCausalLM"]}
    modules = [*PLAIN, "model.layers.61.eh_proj.weight"]
    assert recognise(config, modules, within=True) is HeadKind.MTP
    assert recognise(config, PLAIN, within=True) is None
    assert has_mtp(["blk.4.nextn.eh_proj.weight"])
    assert has_mtp([*PLAIN, "mtp.fc.weight"])
    assert not has_mtp(PLAIN)


@pytest.mark.parametrize(
    ("kind", "phrase"),
    [(HeadKind.EAGLE3, "an EAGLE-3 head"), (HeadKind.PEAGLE, "a P-EAGLE head")],
)
def test_phrases(kind, phrase):
    assert kind.phrase == phrase
