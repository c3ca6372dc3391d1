"""Hydra and Hydra++ heads against the arithmetic of the paper, in the layouts of its code."""

import numpy as np
import pytest
import torch
from torch.nn.functional import embedding, linear, silu
from transformers import LlamaModel

from foredraft.core.errors import ForedraftError
from foredraft.core.types import ROOT
from foredraft.heads.load import load_head
from tests import tiny
from tests.heads import folders
from tests.heads.reading import features, text_of

TARGET = tiny.target()
TEXT = text_of(11)
CONFIG = {"hydra_num_heads": 3, "hydra_num_layers": 2, "grounded_heads": True}
PLUS = CONFIG | {"hydra_head_arch": "prefix-mlp"}


def states(found, text, plus, tap=-1):
    """The hidden states the heads read, [tokens but the last, H]."""
    out = TARGET.model(torch.tensor([text[:-1]]), output_hidden_states=True).hidden_states[tap]
    if plus:
        before = "prefix_embeding_layer."
        own = {n.removeprefix(before): found[n] for n in found if n.startswith(before)}
        config = TARGET.model.config.__class__(
            **TARGET.model.config.to_dict() | {"num_hidden_layers": 1, "layer_types": None}
        )
        layer = LlamaModel(config)
        del own["embed_tokens.weight"]
        assert layer.load_state_dict(own, strict=False).missing_keys == ["embed_tokens.weight"]
        out = layer(inputs_embeds=out).last_hidden_state
    return out[0]


def expected(found, text, drafted, plus=False, tap=-1, blocks=2):
    """The logits after the text and the tokens drafted below it."""
    step, out = (2, "1.") if plus else (1, "")
    x = states(found, text, plus, tap)[-1]
    head = f"hydra_mlp.{len(drafted)}."
    if f"{head}{step - 1}.res_connection.weight" in found:
        tokens = torch.tensor([text[-1], *drafted])
        embedded = embedding(tokens, TARGET.model.get_input_embeddings().weight)
        x = torch.cat([x, embedded.flatten()])
    for block in range(blocks):
        name = f"{head}{step * block + step - 1}."
        y = silu(linear(x, found[f"{name}linear.weight"], found[f"{name}linear.bias"]))
        skip = f"{name}res_connection."
        if f"{skip}weight" in found:
            x = linear(x, found[f"{skip}weight"], found[f"{skip}bias"])
        x = x + y
    name = f"hydra_lm_head.{len(drafted)}.{out}"
    return linear(x, found[f"{name}weight"], found[f"{name}bias"]).detach().numpy()


def loaded(folder, found, **config):
    return load_head(str(folders.write(folder, CONFIG | config, found)), TARGET)


@pytest.mark.parametrize("grounded", [True, False])
@pytest.mark.parametrize("plus", [True, False])
def test_logits(tmp_path, plus, grounded):
    found = folders.hydra(plus, grounded)
    head = loaded(tmp_path / "h", found, **PLUS if plus else {})
    assert (head.name, head.taps, head.reach, head.parallel) == ("hydra", (2,), 3, False)
    state = head.open()
    for text in (TEXT[:5], TEXT):  # read on, after a draft
        logits = state.read(features(TARGET, head, text), text)
        np.testing.assert_allclose(logits, expected(found, text, [], plus), atol=1e-5)
        # Two tokens after the text, one after each of those, in one call and in two.
        paths = [[1], [2], [1, 3], [2, 4]]
        grown = [*state.grow([1, 2, 3], [ROOT, ROOT, 0]), *state.grow([4], [1])]
        for path, row in zip(paths, grown, strict=True):
            np.testing.assert_allclose(row, expected(found, text, path, plus), atol=1e-5)
        assert state.tokens == text


def test_another_text(tmp_path):
    found = folders.hydra(plus=True)
    head = loaded(tmp_path / "h", found, **PLUS)
    state, other = head.open(), [*TEXT[:4], 9, 8, 7]
    state.read(features(TARGET, head, TEXT), TEXT)
    for shared in (4, 7):  # the second time nothing is new
        state.rewind(shared)
        logits = state.read(features(TARGET, head, other), other)
        np.testing.assert_allclose(logits, expected(found, other, [], plus=True), atol=1e-5)


def test_an_earlier_hidden_state_and_a_block_kept_once(tmp_path):
    found = folders.hydra(blocks=3)
    for name in list(found):
        if ".2.linear" in name:
            found[name] = found[name.replace(".2.linear", ".1.linear")]
    once = {name: value for name, value in found.items() if ".2.linear" not in name}
    head = loaded(tmp_path / "h", once, hydra_num_layers=3, hidden_state_offset=1)
    assert head.taps == (1,)
    logits = head.open().read(features(TARGET, head, TEXT), TEXT)
    np.testing.assert_allclose(logits, expected(found, TEXT, [], tap=1, blocks=3), rtol=1e-5)


def test_errors(tmp_path):
    with pytest.raises(ForedraftError, match="a Hydra head, has the architecture 'eagle-attn'; fo"):
        loaded(tmp_path / "a", folders.hydra(), hydra_head_arch="eagle-attn")
    with pytest.raises(ForedraftError, match=r"no tensor hydra_mlp\.0\.0\.linear\.weight or"):
        loaded(tmp_path / "b", {"0.0.linear.weight": torch.zeros(3)})
    found = folders.hydra()
    del found["hydra_mlp.1.1.linear.bias"]
    with pytest.raises(ForedraftError, match=r"lacks 1 tensor .* such as hydra_mlp\.1\.1\.linear"):
        loaded(tmp_path / "c", found)
    found = {name: value[:3] for name, value in folders.hydra().items()}
    with pytest.raises(ForedraftError, match="trained for a target of hidden size 3, and tiny"):
        loaded(tmp_path / "d", found)
