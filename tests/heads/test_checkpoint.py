"""Whatever is wrong with a head's files is said in one sentence."""

import pytest
import torch

from foredraft.core.errors import ForedraftError
from foredraft.heads.load import is_head, load_head
from tests import tiny
from tests.heads import folders

TARGET = tiny.target(num_hidden_layers=6)


def refused(folder, target=TARGET, **options):
    with pytest.raises(ForedraftError) as caught:
        load_head(str(folder), target, **options)
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith(".")
    return said


def written(folder, config=None, tensors=None, **more):
    config = folders.llama(draft_vocab_size=folders.DRAFTED, **more) if config is None else config
    return folders.write(folder, config, folders.eagle3() if tensors is None else tensors)


def test_a_head_loads(tmp_path):
    folder = written(tmp_path / "h")
    assert is_head(str(folder))
    head = load_head(str(folder), TARGET)
    assert (head.name, head.taps, head.reach, head.parallel) == ("eagle3", (2, 3, 3), None, False)
    assert "EAGLE-3" in head.signature
    assert str(folder) in head.signature


def test_layouts_may_be_sharded(tmp_path):
    tensors = folders.eagle3()
    names = sorted(tensors)
    folder = written(tmp_path / "h", tensors={name: tensors[name] for name in names[:5]})
    (folder / "m.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    written(folder, tensors={name: tensors[name] for name in names[5:]})
    assert load_head(str(folder), TARGET).name == "eagle3"


def test_tensors_that_are_missing_extra_or_of_another_shape(tmp_path):
    tensors = folders.eagle3()
    del tensors["norm.weight"]
    said = refused(written(tmp_path / "a", tensors=tensors))
    assert "an EAGLE-3 head, lacks 1 tensor that its config.json calls for, such as norm.w" in said
    tensors = folders.eagle3() | {"gate.weight": torch.zeros(3), "gate.bias": torch.zeros(3)}
    said = refused(written(tmp_path / "b", tensors=tensors))
    assert "has 2 tensors that its config.json does not account for, such as gate.bias" in said
    said = refused(written(tmp_path / "c", intermediate_size=40))
    assert "tensor midlayer.mlp.gate_proj.weight of shape 48 × 32" in said
    assert "call for 40 × 32" in said


def test_files_that_are_cut_short(tmp_path):
    folder = written(tmp_path / "h")
    path = folder / "m.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    assert "is no whole safetensors file; download it again" in refused(folder)
    (folder / "config.json").write_text("{")
    assert "config.json cannot be read" in refused(folder)
    (folder / "config.json").write_text("[]")
    assert "holds no JSON object" in refused(folder)
    (folder / "config.json").unlink()
    assert "has no config.json, so it holds no draft head" in refused(folder)
    assert not is_head(str(folder))


def test_pickles_only_when_allowed_and_only_tensors(tmp_path):
    folder = written(tmp_path / "h")
    (folder / "m.safetensors").unlink()
    assert "has a config.json and no .safetensors weights" in refused(folder, allow_pickle=True)
    torch.save(folders.eagle3(), folder / "pytorch_model.bin")
    assert is_head(str(folder))
    assert "has only pickled weights (pytorch_model.bin)" in refused(folder)
    assert load_head(str(folder), TARGET, allow_pickle=True).name == "eagle3"
    torch.save({"a": TARGET.tokenizer}, folder / "pytorch_model.bin")
    assert "is no whole file of tensors alone" in refused(folder, allow_pickle=True)


def test_heads_of_another_target(tmp_path):
    folder = written(tmp_path / "h")
    said = refused(folder, tiny.target(hidden_size=64))
    assert "was trained for a target of hidden size 32, and tiny-llama has 64" in said
    said = refused(written(tmp_path / "v", vocab_size=99))
    assert "of vocabulary size 99, and tiny-llama has 32" in said
    said = refused(folder, tiny.target())
    assert "reads the hidden states 2, 1, -1, and tiny-llama has those of 0 to 2" in said


def test_vocabulary_maps(tmp_path):
    tensors = folders.eagle3()
    far = tensors | {"d2t": tensors["d2t"] + 20}
    assert "d2t names token 43, and its target's tokens end at 31" in refused(
        written(tmp_path / "a", tensors=far)
    )
    twice = tensors | {"d2t": torch.where(torch.arange(12) == 3, 0, tensors["d2t"])}
    assert "gives two rows the same token" in refused(written(tmp_path / "b", tensors=twice))
    short = tensors | {"t2d": torch.ones(30, dtype=torch.bool)}
    said = refused(written(tmp_path / "c", tensors=short))
    assert "a vocabulary map t2d of 30 entries, where 32 belong" in said
    none = {name: tensor for name, tensor in tensors.items() if name not in ("d2t", "t2d")}
    said = refused(written(tmp_path / "d", tensors=none))
    assert "drafts 12 of the 32 tokens and lacks d2t" in said


def test_settings_that_are_refused(tmp_path):
    assert "both norm_before_fc and fc_norm" in refused(
        written(tmp_path / "a", norm_before_fc=True, fc_norm=True)
    )
    assert "has norm_output 'yes'" in refused(written(tmp_path / "b", norm_output="yes"))
    assert "has draft_vocab_size 1.5" in refused(
        written(tmp_path / "c", folders.llama(draft_vocab_size=1.5))
    )
    assert "use_aux_hidden_state to false" in refused(
        written(tmp_path / "d", eagle_config={"use_aux_hidden_state": False})
    )
    for setting, value in (("verifier_accept_k", 3), ("accept_tolerance", 0.1)):
        proposals = [{"proposal_type": "greedy", setting: value}]
        folder = written(tmp_path / setting, speculators_config={"proposal_methods": proposals})
        assert f"asks for {setting} {value}, which accepts tokens" in refused(folder)
    kinds = ["chunked_attention"]
    assert "they are chunked_attention" in refused(written(tmp_path / "e", layer_types=kinds))
    assert "describes no layers that can be built" in refused(
        written(tmp_path / "f", hidden_act=["a"])
    )


def test_what_is_no_head(tmp_path):
    tensors = {"model.layers.0.w": torch.zeros(1)}
    folder = folders.write(tmp_path / "h", folders.llama(), tensors)
    assert not is_head(str(folder))
    said = refused(folder)
    assert "config.json says LlamaForCausalLM, and its 1 tensors are named like model." in said
    (tmp_path / "h.gguf").write_bytes(b"")
    assert "is a GGUF file, and heads are read from .safetensors" in refused(tmp_path / "h.gguf")


def test_a_target_without_hidden_states(tmp_path):
    class Llama:
        engine = "llama.cpp"

    said = refused(written(tmp_path / "h"), Llama())
    assert "drafts from hidden states, which llama.cpp does not give" in said


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"eagle_config": 3}, "has eagle_config 3 in its config.json, where a JSON object"),
        ({"transformer_layer_config": "x"}, "has transformer_layer_config 'x'"),
        ({"eagle_aux_hidden_state_layer_ids": [1, "a"]}, "[1, 'a'] in its config.json, where a li"),
        ({"num_hidden_layers": 0}, "(num_hidden_layers is 0)"),
        ({"num_attention_heads": -4}, "(num_attention_heads is -4)"),
        ({"hidden_act": "x"}, "describes no layers that can be built"),
        ({"rope_scaling": {"rope_type": "x"}}, "describes no layers that can be built"),
        ({"sliding_window": 4, "layer_types": ["x"]}, "describes no layers that can be built"),
        ({"layer_types": ["sliding_attention"]}, "or lack a sliding_window"),
    ],
)
def test_configs_that_hold_anything(tmp_path, wrong, words):
    assert words in refused(written(tmp_path / "h", **wrong))
