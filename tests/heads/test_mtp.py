"""Modules of multi-token prediction against Transformers' own, which reads the same folders."""

import numpy as np
import pytest
import torch
from transformers.cache_utils import MtpCache
from transformers.modeling_layers import MtpModel

from foredraft.core.types import ROOT
from foredraft.heads.load import load_head
from tests import tiny
from tests.heads import mtp_folders
from tests.heads.mtp_folders import opened, shipped
from tests.heads.reading import features, text_of

TEXT = text_of(10)


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


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def deepseek(folder, **changes):
    shipped(folder, mtp_folders.deepseek(**changes), layer=changes.get("dense", 1) % 2)
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
