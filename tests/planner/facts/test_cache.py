"""Bytes a text takes in a model's cache, layer by layer."""

from types import SimpleNamespace

import pytest
from transformers import AutoConfig

from foredraft.core.errors import ForedraftError
from foredraft.planner.facts.cache import LayerCache
from foredraft.planner.facts.cache_config import layers as of_config
from foredraft.planner.facts.cache_gguf import layers as of_gguf
from foredraft.targets.gguf_header import GGUFHeader

USUAL = {"block_count": 2, "embedding_length": 64, "attention.head_count": 4}


def gguf(arch="llama", **numbers):
    named = {name.replace("__", "."): value for name, value in numbers.items()}
    fields = {f"{arch}.{name}": value for name, value in (USUAL | named).items()}
    return of_gguf(GGUFHeader({"general.architecture": arch} | fields, {}))


def config(kind, **changes):
    shape = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    return of_config(AutoConfig.for_model(kind, **shape | changes))


def test_bytes():
    assert LayerCache(values=10).size(100) == 10 * 100 * 2
    assert LayerCache(values=10, window=30).size(100) == 10 * 30 * 2
    assert LayerCache(values=10, window=300).size(100) == 10 * 100 * 2
    assert LayerCache(state=7, recurrent=True).size(100) == 7 * 4


def test_grouped_heads():
    assert gguf() == (LayerCache(values=2 * 4 * 16),) * 2
    assert gguf(attention__head_count_kv=2) == (LayerCache(values=2 * 2 * 16),) * 2
    wide = gguf(attention__key_length=32, attention__value_length=8)
    assert wide == (LayerCache(values=4 * 40),) * 2
    assert config("qwen2", num_key_value_heads=2) == (LayerCache(values=2 * 2 * 16),) * 2
    assert config("qwen3", num_key_value_heads=2, head_dim=8) == (LayerCache(values=32),) * 2


def test_other_names_for_the_same():
    assert of_config(AutoConfig.for_model("gpt2", n_layer=1, n_embd=64, n_head=4)) == (
        LayerCache(values=128),
    )


def test_windows():
    windows = [layer.window for layer in gguf("gemma3", block_count=6, attention__sliding_window=8)]
    assert windows == [8, 8, 8, 8, 8, None]
    listed = {"attention__sliding_window": 8, "attention__sliding_window_pattern": [True, False]}
    assert [layer.window for layer in gguf("gemma4", **listed)] == [8, None]
    stated = {"attention__sliding_window": 8, "attention__sliding_window_pattern": 2}
    assert [layer.window for layer in gguf("newest", **stated)] == [8, None]
    assert [layer.window for layer in gguf("phi3", **stated)] == [None, None]
    assert [layer.window for layer in gguf(attention__sliding_window=8)] == [None, None]
    mixed = config("gemma3_text", layer_types=["sliding_attention", "full_attention"])
    assert [layer.window for layer in mixed] == [4096, None]
    assert [layer.window for layer in config("mistral", sliding_window=8)] == [8, 8]
    assert [layer.window for layer in config("qwen2", sliding_window=8)] == [None, None]


def test_windowed_heads_of_another_width():
    found = gguf(
        "gemma4",
        attention__key_length=32,
        attention__value_length=32,
        attention__key_length_swa=8,
        attention__value_length_swa=8,
        attention__sliding_window=8,
        attention__sliding_window_pattern=[True, False],
    )
    assert found == (LayerCache(values=64, window=8), LayerCache(values=256))


def test_layers_that_share():
    assert gguf(attention__shared_kv_layers=1) == (LayerCache(values=128), LayerCache())


def test_latent_attention():
    """MLA keeps one latent a token, and its rotated part, for all heads."""
    latent = {"attention__head_count_kv": 1, "attention__key_length": 40}
    assert gguf("deepseek2", **latent, attention__key_length_mla=24) == (LayerCache(values=40),) * 2
    found = config("deepseek_v3", kv_lora_rank=32, qk_rope_head_dim=8)
    assert found == (LayerCache(values=40),) * 2


def test_mtp_layers_are_not_counted():
    assert len(gguf("qwen35", block_count=5, nextn_predict_layers=1)) == 4


def test_hybrids():
    gdn = {"ssm__conv_kernel": 4, "ssm__inner_size": 32, "ssm__state_size": 8}
    state = 3 * (32 + 2 * 2 * 8) + 32 * 8
    found = gguf("qwen35", block_count=4, **gdn, ssm__group_count=2)
    assert found[:3] == (LayerCache(state=state, recurrent=True),) * 3
    assert found[3] == LayerCache(values=128)
    assert [layer.recurrent for layer in gguf("qwen35", full_attention_interval=2)] == [True, False]
    listed = gguf("qwen35", attention__recurrent_layers=[False, True])
    assert [layer.recurrent for layer in listed] == [False, True]
    jamba = gguf("jamba", attention__head_count_kv=[0, 4], **gdn)
    assert [layer.recurrent for layer in jamba] == [True, False]
    assert jamba[1] == LayerCache(values=128)


def test_layers_that_only_feed_forward():
    found = gguf(
        "nemotron_h",
        block_count=3,
        attention__head_count_kv=[0, 0, 4],
        feed_forward_length=[0, 96, 0],
        ssm__inner_size=32,
        ssm__state_size=8,
    )
    assert [layer.recurrent for layer in found] == [True, False, False]
    assert found[1] == LayerCache()
    assert gguf("deci", attention__head_count_kv=[0, 4])[0] == LayerCache()


def test_layers_that_do_both():
    found = gguf("falcon-h1", ssm__inner_size=32, ssm__state_size=8)
    assert found == (LayerCache(values=128, state=256, recurrent=True),) * 2


def test_recurrent_models():
    rwkv = gguf("rwkv7", wkv__head_size=16, attention__head_count=0)
    assert rwkv == (LayerCache(state=64 * 18, recurrent=True),) * 2
    assert all(layer.recurrent and not layer.values for layer in gguf("mamba"))
    kimi = gguf("kimi-linear", kda__head_dim=8, attention__head_count_kv=[0, 4])
    assert kimi[0] == LayerCache(state=4 * 8 * (3 * 3 + 8), recurrent=True)


def test_short_convolutions_are_no_recurrence():
    found = gguf("lfm2", attention__head_count_kv=[0, 4], shortconv__l_cache=3)
    assert found == (LayerCache(state=128), LayerCache(values=128))
    found = config("lfm2", layer_types=["conv", "full_attention"], num_key_value_heads=4)
    assert found[0].state
    assert not any(layer.recurrent for layer in found)


def test_hybrids_in_transformers():
    found = config(
        "qwen3_next",
        num_key_value_heads=2,
        head_dim=16,
        layer_types=["linear_attention", "full_attention"],
        linear_num_value_heads=4,
        linear_num_key_heads=2,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
    )
    assert found[0] == LayerCache(state=4 * (2 * 16 + 32) + 32 * 8, recurrent=True)
    assert found[1] == LayerCache(values=64)
    mamba = config("mamba2", num_heads=8, head_dim=16, state_size=8, n_groups=1, conv_kernel=4)
    assert mamba == (LayerCache(state=4 * (128 + 16) + 128 * 8, recurrent=True),) * 2
    falcon = config("falcon_h1", mamba_d_ssm=32, mamba_n_heads=4, mamba_d_head=8)
    assert all(layer.recurrent and layer.values for layer in falcon)
    rwkv = of_config(AutoConfig.for_model("rwkv", num_hidden_layers=3))
    assert [layer.recurrent for layer in rwkv] == [True] * 3


def test_a_field_that_is_no_number():
    with pytest.raises(ForedraftError, match=r"field llama\.block_count is 'two' where a whole"):
        gguf(block_count="two")


def test_a_damaged_number_of_layers_does_not_fill_memory():
    with pytest.raises(ForedraftError, match="1,000,000,000 layers"):
        of_config(SimpleNamespace(num_hidden_layers=10**9))
