"""Modules of multi-token prediction against Transformers' own, which reads the same folders."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel
from transformers.cache_utils import MtpCache
from transformers.modeling_layers import MtpModel

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.types import ROOT
from foredraft.drafters.head import HeadDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.heads.load import is_head, load_head
from foredraft.targets.torch_hf import TorchTarget
from tests import tiny
from tests.heads import folders, mtp_folders, record
from tests.heads.mtp_folders import opened, shipped
from tests.heads.reading import features, text_of

TEXT = text_of(10)
RECORDED = sorted(path.name for path in record.RECORDED.glob("mtp-*"))


class Theirs:
    """Transformers' modules after a text, and then after the tokens drafted below it."""

    def __init__(self, target, text):
        self.model = target.model
        config = self.model.config
        if config.model_type == "deepseek_v3":  # it looks for the layer of the published model
            self.model._keys_to_ignore_on_load_unexpected = [r"model\.layers\.[2-9].*"]
        else:  # it knows the layout, but not that this model has it
            config.num_mtp_layers, config.mtp_layer_types = 1, ["full_attention"]
        self.modules = MtpModel.from_pretrained(self.model)
        self.cache = MtpCache(config=config.get_mtp_config())
        out = self.model(torch.tensor([text[:-1]]), output_hidden_states=True)
        self.hidden, self.tokens = out.hidden_states[-1], text[1:]
        self.place = 1

    def step(self, module=0):
        """The logits after all tokens given so far, of which the last ones are read now."""
        count = self.hidden.shape[1]
        places = torch.arange(self.place, self.place + count)[None]
        ids = torch.tensor([self.tokens[-count:]])
        self.hidden = self.modules.forward_layer(module, self.hidden, places, self.cache, ids)
        return self.modules._project_to_logits(self.hidden[0, -1]).detach().numpy()

    def further(self, token):
        """Read one more drafted token with the same module."""
        self.place += self.hidden.shape[1]
        self.hidden, self.tokens = self.hidden[:, -1:], [*self.tokens, token]
        return self.step()

    def deeper(self, module, token):
        """Read one more drafted token with the next module, which reads all places anew."""
        self.place, self.tokens = self.place + 1, [*self.tokens[1:], token]
        return self.step(module)


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def deepseek(folder, modules=1, **changes):
    shipped(folder, mtp_folders.deepseek(modules, **changes), modules=modules)
    return opened(folder)


def qwen(folder):
    shipped(folder, tiny.model("qwen3next"), "qwen")
    return opened(folder)


@pytest.mark.parametrize(
    "make",
    [
        deepseek,
        lambda folder: deepseek(folder, mtp_hidden_states_first=True),
        lambda folder: deepseek(folder, chain_hidden_post_norm=False),
        qwen,
    ],
    ids=["deepseek", "hidden first", "bare states", "qwen3-next"],
)
def test_one_module_reads_its_own_output(tmp_path, make):
    target = make(tmp_path / "m")
    head = load_head(target.name, target)
    assert (head.name, head.taps, head.reach, head.parallel) == ("mtp", (2,), None, False)
    state = head.open()
    for text in (TEXT[:6], TEXT):  # read on, after a draft
        theirs = Theirs(target, text)
        close(state.read(features(target, head, text), text), theirs.step())
        for i, token in enumerate((3, 1, 4)):
            close(state.grow([token], [i + ROOT])[0], theirs.further(token))


def test_a_module_for_each_depth(tmp_path):
    target = deepseek(tmp_path / "m", modules=3)
    head = load_head(target.name, target)
    assert (head.name, head.taps, head.reach, head.parallel) == ("mtp", (2,), 3, False)
    state = head.open()
    for text in (TEXT[:2], TEXT[:3], TEXT[:6], TEXT):
        theirs = Theirs(target, text)
        close(state.read(features(target, head, text), text), theirs.step())
        close(state.grow([3], [ROOT])[0], theirs.deeper(1, 3))
        close(state.grow([1], [0])[0], theirs.deeper(2, 1))


def test_modules_in_a_tree_and_on_other_texts(tmp_path, monkeypatch):
    target = deepseek(tmp_path / "m", modules=3)
    head = load_head(target.name, target)
    tokens, parents = [1, 2, 3, 4, 5], [ROOT, ROOT, 0, 1, 0]
    paths = [[1], [2], [1, 3], [2, 4], [1, 5]]
    state, other = head.open(), [*TEXT[:4], 9, 8, 7]
    for text, shared in ((TEXT, 0), (other, 4), (other, 7)):
        state.rewind(shared)
        logits = state.read(features(target, head, text), text)
        grown = [*state.grow(tokens[:4], parents[:4]), *state.grow(tokens[4:], parents[4:])]
        monkeypatch.setattr("foredraft.heads.mtp_stack._CHUNK", 2)
        fresh = head.open()
        close(fresh.read(features(target, head, text), text), logits)
        monkeypatch.undo()
        for path, row in zip(paths, grown, strict=True):
            fresh.read(features(target, head, text), text)
            for i, token in enumerate(path):
                last = fresh.grow([token], [i - 1])[0]
            close(row, last)


@pytest.mark.parametrize("folder_of", ["target", "head"])
def test_in_the_targets_folder_or_by_itself(tmp_path, folder_of):
    target = deepseek(tmp_path / "m")
    whole = load_head(target.name, target).open()
    name = target.name
    assert not is_head(name)
    assert is_head(name, f"{name}/.")
    if folder_of == "head":
        file = load_file(tmp_path / "m" / "model.safetensors")
        only = {tensor: value for tensor, value in file.items() if ".layers.2." in tensor}
        config = json.loads((tmp_path / "m" / "config.json").read_text())
        name = str(folders.write(tmp_path / "h", config, only))
        assert is_head(name)
        head = load_head(name, target)
        seen = features(target, head, TEXT)
        close(head.open().read(seen, TEXT), whole.read(seen, TEXT))


def test_a_dense_block(tmp_path):
    model = mtp_folders.deepseek(dense=2)
    shipped(tmp_path / "m", model)
    target = opened(tmp_path / "m")
    assert load_head(target.name, target).network.depths[0].block.mlp.gate_proj is not None


class Given:
    """Hidden states as they were recorded."""

    def __init__(self, states):
        self._states = states

    def hidden(self, taps, start, end):
        return self._states[start:end]


@pytest.mark.parametrize("name", RECORDED)
def test_speculators(name):
    """Its modules belong to targets whose matrices are kept beside what it computed."""
    folder = record.RECORDED / name
    recorded = load_file(folder / "recorded.st")
    inner = json.loads((folder / "config.json").read_text())["transformer_layer_config"]
    config = AutoConfig.for_model(**inner)
    model = AutoModelForCausalLM.from_config(config).float().eval().requires_grad_(False)
    model.get_input_embeddings().weight.copy_(recorded["embed"])
    model.get_output_embeddings().weight.copy_(recorded["output"])
    head = load_head(str(folder), TorchTarget(model, tiny.Characters(), name))
    tokens, state = recorded["tokens"].tolist(), head.open()
    for row, logits in enumerate(recorded["logits"]):
        close(state.read(Given(recorded["hidden"]), tokens[: row + 2]), logits.numpy())


def test_each_kind_of_target_is_recorded():
    assert RECORDED == ["mtp-qwen3", "mtp-qwen3-5", "mtp-qwen3-next"]


def test_errors(tmp_path):
    target = deepseek(tmp_path / "m")
    longer = mtp_folders.deepseek(num_hidden_layers=3)
    other = TorchTarget(longer, tiny.Characters(), "longer")
    file = load_file(tmp_path / "m" / "model.safetensors")
    own = {name: value for name, value in file.items() if ".layers.2." in name}
    config = json.loads((tmp_path / "m" / "config.json").read_text())

    def refused(folder, tensors, target, said):
        with pytest.raises(ForedraftError, match=said):
            load_head(str(folders.write(tmp_path / folder, config, tensors)), target)

    refused(
        "a",
        own,
        other,
        r"none of the tensors layers\.3\.eh_proj\.weight, mtp\.fc\.weight, .* "
        r"with which a module for longer and its 3 layers begins; it belongs to another target",
    )
    refused("b", own, tiny.target(hidden_size=64), "of hidden size 32, and tiny-llama has 64; use")
    named = folders.weights({"transformer.mtp.fc.weight": (32, 64)})
    gpt2 = TorchTarget(
        GPT2LMHeadModel(GPT2Config(vocab_size=32, n_embd=32, n_head=2)), None, "gpt2"
    )
    refused("x", named, gpt2, r"has modules built like the layers of gpt2, which cannot .* \(")
    less = {name: value for name, value in own.items() if "experts.1.up" not in name}
    refused("c", less, target, r"lacks 2 tensors .* such as model\.layers\.2\.mlp\.experts\.down")
    less = {name: value for name, value in own.items() if "hnorm" not in name}
    refused("d", less, target, r"lacks 1 tensor .* such as model\.layers\.2\.hnorm\.weight; down")
    more = own | {"model.layers.2.self_attn.q_proj.weight_scale_inv": torch.zeros(1)}
    refused("e", more, target, r"has 1 tensor .* such as model\.layers\.2\.self_attn\.q_proj\.wei")


@pytest.mark.parametrize(
    "make",
    [deepseek, lambda folder: deepseek(folder, modules=3), qwen],
    ids=["one module", "three modules", "snapshots"],
)
def test_the_text_is_the_targets_own(tmp_path, make):
    target = make(tmp_path / "m")
    drafter = HeadDrafter(load_head(target.name, target), target)
    request = Request(SamplingParams(temperature=0.8), max_new_tokens=30, draft_len=4, seed=5)
    plain = Generator(target).generate(TEXT, request)
    drafted = Generator(target, drafter).generate(TEXT, request)
    assert [t.id for t in drafted.tokens] == [t.id for t in plain.tokens]
    assert drafted.stats.accepted > 0
