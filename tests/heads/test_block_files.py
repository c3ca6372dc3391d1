"""Layouts in which heads that draft a block are published, and what is said of those that do not
fit."""

import numpy as np
import pytest
import torch

from foredraft.core.errors import ForedraftError
from foredraft.core.types import ROOT
from foredraft.heads.load import load_head
from foredraft.targets.attention import group_heads
from tests import tiny
from tests.heads import folders
from tests.heads.test_block import Told, chain

TARGET = tiny.target()
HIDDEN = torch.randn(40, 2 * folders.HIDDEN, generator=torch.Generator().manual_seed(0))
TEXT = [3, 1, 4, 1, 5, 9, 2, 6]


def loaded(folder, config, tensors, target=TARGET):
    return load_head(str(folders.write(folder, config, tensors)), target)


def refused(folder, config, tensors, target=TARGET):
    with pytest.raises(ForedraftError) as caught:
        loaded(folder, config, tensors, target)
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith(".")
    return said


def speculators(**more):
    layers = folders.llama(num_hidden_layers=2) | {"model_type": "qwen3"}
    return {
        "speculators_model_type": "dflash",
        "transformer_layer_config": layers,
        "aux_hidden_state_layer_ids": [1, 2],
        "block_size": folders.BLOCK,
        "mask_token_id": 30,
        "draft_vocab_size": folders.VOCAB,
    } | more


def said_by(head):
    return chain(head.open(), Told(HIDDEN), TEXT, [7, 8])


def test_the_two_layouts_count_layers_differently(tmp_path):
    tensors = folders.dflash()
    one = loaded(tmp_path / "a", folders.z_lab(ids=[0, 1]), tensors)
    other = loaded(tmp_path / "b", speculators(aux_hidden_state_layer_ids=[1, 2]), tensors)
    assert one.taps == other.taps == (1, 2)
    assert (one.name, one.reach, one.parallel) == ("dflash", folders.BLOCK - 1, True)
    np.testing.assert_array_equal(said_by(one), said_by(other))


def test_settings_may_lie_in_dflash_config(tmp_path):
    tensors, flat = folders.dflash(), folders.z_lab()
    inner = flat.pop("dflash_config") | {"block_size": flat.pop("block_size")}
    one = loaded(tmp_path / "a", flat | inner, tensors)
    other = loaded(tmp_path / "b", flat | {"dflash_config": inner}, tensors)
    np.testing.assert_array_equal(said_by(one), said_by(other))


def test_the_layers_of_the_first_checkpoints_are_spread_over_the_target(tmp_path):
    target = tiny.target(num_hidden_layers=12)
    config = folders.z_lab(num_target_layers=12, dflash_config={"mask_token_id": 30})
    assert loaded(tmp_path / "a", config, folders.dflash(), target).taps == (2, 10)
    config |= {"num_hidden_layers": 1}
    head = loaded(tmp_path / "b", config, folders.dflash(taps=1, layers=1), target)
    assert head.taps == (7,)


def test_factors_of_embeddings_and_logits(tmp_path):
    tensors, config = folders.dflash(), folders.z_lab()
    plain = said_by(loaded(tmp_path / "a", config, tensors))
    held = config["dflash_config"] | {"output_multiplier": 0.5, "final_logit_softcapping": 2.0}
    capped = said_by(loaded(tmp_path / "b", config | {"dflash_config": held}, tensors))
    np.testing.assert_allclose(capped, 2 * np.tanh(plain / 4), rtol=1e-4, atol=1e-5)
    # A factor on the embeddings is the same as other embeddings.
    scaled = config["dflash_config"] | {"input_embedding_scale": 3}
    own = {"embed_tokens.weight": 3 * TARGET.model.get_input_embeddings().weight}
    one = said_by(loaded(tmp_path / "c", config | {"dflash_config": scaled}, tensors))
    other = said_by(loaded(tmp_path / "d", config, tensors | own))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_embeddings_are_taken_as_stored(tmp_path):
    """Gemma multiplies its embeddings by √H; drafters are trained without."""
    gemma, tensors = tiny.target("gemma3"), folders.dflash()
    own = {"embed_tokens.weight": gemma.model.get_input_embeddings().weight.clone()}
    one = said_by(loaded(tmp_path / "a", folders.z_lab(), tensors, gemma))
    other = said_by(loaded(tmp_path / "b", folders.z_lab(), tensors | own, gemma))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("causal", [False, True])
def test_beside_targets_with_other_attention_and_formats(tmp_path, causal):
    config, tensors = folders.z_lab(is_causal=causal), folders.dflash()
    plain = said_by(loaded(tmp_path / "h", config, tensors))
    grouped = tiny.target()
    assert group_heads(grouped.model)
    got = said_by(loaded(tmp_path / "h", config, tensors, grouped))
    np.testing.assert_allclose(got, plain, rtol=1e-4, atol=1e-4)
    half = tiny.target()
    half.model.to(torch.bfloat16)
    head = loaded(tmp_path / "h", config, tensors, half)
    got = chain(head.open(), Told(HIDDEN.to(torch.bfloat16)), TEXT, [7, 8])
    assert got.dtype == np.float32
    assert abs(got - plain).max() < 0.1 * abs(plain).max()


def test_only_new_positions_are_read(tmp_path):
    head, features = loaded(tmp_path / "h", folders.z_lab(), folders.dflash()), Told(HIDDEN)
    state = head.open()
    state.read(features, TEXT[:4])
    state.read(features, TEXT)
    assert features.asked == [(0, 3), (3, 7)]
    state.rewind(5)
    assert state.tokens == TEXT[:5]
    again = state.read(features, TEXT[:7])
    assert features.asked[2:] == [(5, 6)]
    np.testing.assert_allclose(again, head.open().read(features, TEXT[:7]), atol=1e-5)


def test_long_texts_are_read_in_pieces(tmp_path):
    head = loaded(tmp_path / "h", folders.z_lab(), folders.dflash())
    features = Told(torch.randn(1100, 2 * folders.HIDDEN))
    state = head.open()
    state.read(features, [1] * 1101)
    assert features.asked == [(0, 512), (512, 1024), (1024, 1100)]


def test_laws_of_a_dflash_block_do_not_hang_on_drafted_tokens(tmp_path):
    head = loaded(tmp_path / "h", folders.z_lab(), folders.dflash())
    state = head.open()
    state.read(Told(HIDDEN), TEXT)
    first = state.grow([1, 2, 3], [ROOT, ROOT, 0])
    np.testing.assert_array_equal(first[0], first[1])
    assert not np.array_equal(first[0], first[2])


@pytest.mark.parametrize("kind", ["vanilla", "gated", "rnn"])
def test_dspark_trees_say_what_their_paths_would(tmp_path, kind):
    config = folders.z_lab(markov_rank=4, markov_head_type=kind)
    config["architectures"] = ["Qwen3DSparkModel"]
    head = loaded(tmp_path / "h", config, folders.dspark(kind))
    assert (head.name, head.reach, head.parallel) == ("dspark", folders.BLOCK, True)
    tree, features = head.open(), Told(HIDDEN)
    tree.read(features, TEXT)
    got = tree.grow([7, 8, 9, 7], [ROOT, ROOT, 0, 1])
    for node, path in ((0, [7]), (1, [8]), (2, [7, 9]), (3, [8, 7])):
        alone = chain(head.open(), features, TEXT, path)[-1]
        np.testing.assert_allclose(got[node], alone, rtol=1e-4, atol=1e-5)
    assert not np.allclose(got[0], got[1])


def test_a_dspark_head_without_its_correction_is_a_dflash_head(tmp_path):
    config = folders.z_lab(markov_rank=0) | {"architectures": ["Qwen3DSparkModel"]}
    head = loaded(tmp_path / "a", config, folders.dflash())
    assert (head.name, head.reach) == ("dflash", folders.BLOCK)


def test_the_mask_of_a_p_eagle_head_may_be_stored_flat(tmp_path):
    tensors, features = folders.peagle(), Told(torch.randn(40, 3 * folders.HIDDEN))
    one = loaded(tmp_path / "a", folders.aws(), tensors)
    assert (one.name, one.taps, one.reach, one.parallel) == ("peagle", (0, 1, 2), 8, True)
    tensors["mask_hidden"] = tensors["mask_hidden"].flatten()
    other = loaded(tmp_path / "b", folders.aws(num_depths=5), tensors)
    assert other.reach == 5
    # A row sees those before it alone, so fewer masks change nothing.
    said = [chain(head.open(), features, TEXT, [7, 8, 9]) for head in (one, other)]
    np.testing.assert_allclose(*said, rtol=1e-4, atol=1e-5)


def test_what_a_dflash_head_lacks_or_has_too_much(tmp_path):
    tensors = folders.dflash()
    del tensors["hidden_norm.weight"]
    said = refused(tmp_path / "a", folders.z_lab(), tensors)
    assert "a DFlash head, lacks 1 tensor" in said
    assert "hidden_norm.weight" in said
    tensors = folders.dflash() | {"layers.0.self_attn.sinks": torch.zeros(4)}
    assert "layers.0.self_attn.sinks" in refused(tmp_path / "b", folders.z_lab(), tensors)
    tensors = folders.dflash(taps=3)
    assert "fc.weight of shape 32 × 96" in refused(tmp_path / "c", folders.z_lab(), tensors)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"hidden_size": 64}, "hidden size 64, and tiny-llama has 32"),
        ({"vocab_size": 40}, "vocabulary size 40, and tiny-llama has 32"),
        ({"num_target_layers": 3}, "a target of 3 layers, and tiny-llama has 2"),
        ({"target_layer_ids": [0, 2]}, "reads the hidden states 1, 3, and tiny-llama has"),
        ({"target_layer_ids": [0, "1"]}, "target_layer_ids [0, '1']"),
        ({"mask_token_id": 32}, "token 32, and tiny-llama has 32 tokens"),
        ({"mask_token_id": None}, "has no mask_token_id"),
        ({"block_size": 1}, "block_size 1"),
        ({"block_size": "16"}, "block_size '16'"),
        ({"draft_vocab_size": 12}, "drafts 12 of the 32 tokens and lacks"),
        ({"conv_kernel_size": 4}, "the convolutions of DFlash2 (conv_kernel_size"),
        ({"use_swa": True}, "a sliding window in every layer (use_swa"),
        ({"output_multiplier": "2"}, "output_multiplier '2'"),
        ({"model_type": "gemma4_text"}, "layers of gemma4_text"),
        ({"partial_rotary_factor": 0.5}, "rotates queries and keys in another way"),
        ({"num_attention_heads": "four"}, "describes no layers that can be built"),
    ],
)
def test_settings_of_a_dflash_head_that_do_not_fit(tmp_path, more, words):
    config = folders.z_lab()
    config |= config.pop("dflash_config") | more
    assert words in refused(tmp_path / "h", config, folders.dflash())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"aux_hidden_state_layer_ids": None}, "has no aux_hidden_state_layer_ids"),
        ({"aux_hidden_state_layer_ids": [1, 3]}, "reads the hidden states 1, 3"),
        ({"transformer_layer_config": {"model_type": "none"}}, "unknown family 'none'"),
        ({"sample_from_anchor": "yes"}, "sample_from_anchor 'yes'"),
    ],
)
def test_settings_of_a_speculators_head_that_do_not_fit(tmp_path, more, words):
    assert words in refused(tmp_path / "h", speculators(**more), folders.dflash())


def test_a_markov_head_of_an_unknown_type(tmp_path):
    config = folders.z_lab(markov_rank=4, markov_head_type="fir")
    config["architectures"] = ["Qwen3DSparkModel"]
    said = refused(tmp_path / "h", config, folders.dspark())
    assert "a Markov head of the type 'fir'; foredraft knows vanilla, gated, rnn." in said


def test_a_p_eagle_head_that_does_not_say_what_its_mask_is(tmp_path):
    config = folders.aws() | {"parallel_drafting": True}
    del config["ptd_token_id"]
    assert "as mask_token_id" in refused(tmp_path / "a", config, folders.peagle())
    config["mask_token_id"] = 99
    assert "has 99" in refused(tmp_path / "b", config, folders.peagle())
    tensors = folders.peagle()
    tensors["mask_hidden"] = tensors["mask_hidden"][..., :32]
    said = refused(tmp_path / "c", folders.aws(), tensors)
    assert "mask_hidden of shape 1 × 1 × 32" in said
    del tensors["mask_hidden"]
    assert "such as mask_hidden" in refused(tmp_path / "d", folders.aws(), tensors)
