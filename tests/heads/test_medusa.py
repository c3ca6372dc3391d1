"""Medusa heads against the arithmetic of the paper, in the layouts they are published in."""

import numpy as np
import pytest
import torch
from torch.nn.functional import linear, silu

from foredraft.core.errors import ForedraftError
from foredraft.core.types import ROOT
from foredraft.heads.load import load_head
from tests import tiny
from tests.heads import folders
from tests.heads.folders import HIDDEN, VOCAB
from tests.heads.reading import features, text_of

TARGET = tiny.target()
TEXT = text_of(9)
CONFIG = {"medusa_num_heads": 5, "medusa_num_layers": 1, "base_model_name_or_path": "someone/it"}
"""The number of heads is often wrong, as here."""
OTHER = torch.zeros(3)


def expected(found, text, blocks=1, before=""):
    """Every depth's logits, from the target's last hidden state as Transformers gives it."""
    out = TARGET.model(torch.tensor([text[:-1]]), output_hidden_states=True)
    logits = []
    for head in range(1 + max(int(n.removeprefix(before).split(".")[0]) for n in found)):
        x = out.hidden_states[-1][0, -1]
        for block in range(blocks):
            name = f"{before}{head}.{block}.linear."
            x = x + silu(linear(x, found[name + "weight"], found[name + "bias"]))
        matrix = found.get(f"{before}{head}.{blocks}.weight")
        logits.append(TARGET.model.lm_head(x) if matrix is None else linear(x, matrix))
    return torch.stack(logits).numpy()


def loaded(folder, found, **config):
    return load_head(str(folders.write(folder, CONFIG | config, found)), TARGET)


@pytest.mark.parametrize(("before", "blocks"), [("", 1), ("medusa_head.", 1), ("", 2)])
def test_logits(tmp_path, before, blocks):
    found = folders.medusa(blocks=blocks, before=before)
    base = {"lm_head.weight": torch.zeros(VOCAB, HIDDEN), "model.layers.0.mlp.x.weight": OTHER}
    head = loaded(tmp_path / "m", found | (base if before else {}))
    assert (head.name, head.taps, head.reach, head.parallel) == ("medusa", (2,), 3, True)
    state = head.open()
    logits = state.read(features(TARGET, head, TEXT), TEXT)
    after = expected(found, TEXT, blocks, before)
    np.testing.assert_allclose(logits, after[0], atol=1e-5)
    # A tree: two tokens after the text, one after each of those.
    grown = state.grow([1, 2, 3], [ROOT, ROOT, 0])
    np.testing.assert_allclose(grown, after[[1, 1, 2]], atol=1e-5)
    np.testing.assert_allclose(state.grow([4], [1]), after[[2]], atol=1e-5)
    assert state.tokens == TEXT


def test_a_text_that_goes_on_and_back(tmp_path):
    found = folders.medusa()
    head = loaded(tmp_path / "m", found)
    state = head.open()
    state.read(features(TARGET, head, TEXT), TEXT)
    state.grow([1], [ROOT])
    for text in ([*TEXT, 5, 6], [*TEXT[:4], 9, 9]):
        state.rewind(4)
        logits = state.read(features(TARGET, head, text), text)
        np.testing.assert_allclose(logits, expected(found, text)[0], atol=1e-5)
        assert state.tokens == text


def test_rows_that_the_target_does_not_have_and_the_other_way_round(tmp_path):
    for rows in (VOCAB + 8, VOCAB - 8):
        found = folders.medusa(rows=rows)
        head = loaded(tmp_path / str(rows), found)
        logits = head.open().read(features(TARGET, head, TEXT), TEXT)
        both = min(rows, VOCAB)
        np.testing.assert_allclose(logits[:both], expected(found, TEXT)[0, :both], atol=1e-5)
        assert logits.shape == (VOCAB,)
        assert np.isneginf(logits[both:]).all()


def test_heads_without_an_output_matrix_use_the_targets(tmp_path):
    found = folders.medusa(rows=0)
    head = loaded(tmp_path / "m", found)
    logits = head.open().read(features(TARGET, head, TEXT), TEXT)
    np.testing.assert_allclose(logits, expected(found, TEXT)[0], atol=1e-5)


def test_a_block_that_is_run_twice_may_be_kept_once(tmp_path):
    found = folders.medusa(blocks=2)
    for name in list(found):
        if ".1.linear." in name:
            found[name] = found[name.replace(".1.linear.", ".0.linear.")]
    once = {name: value for name, value in found.items() if ".1.linear." not in name}
    head = loaded(tmp_path / "m", once)
    logits = head.open().read(features(TARGET, head, TEXT), TEXT)
    np.testing.assert_allclose(logits, expected(found, TEXT, blocks=2)[0], atol=1e-5)


def test_errors(tmp_path):
    found = folders.medusa()
    del found["1.0.linear.bias"]
    with pytest.raises(ForedraftError, match=r"lacks 1 tensor .* such as 1\.0\.linear\.bias"):
        loaded(tmp_path / "a", found)
    with pytest.raises(ForedraftError, match=r"a Medusa head, has no tensor whose name ends in 0"):
        loaded(tmp_path / "b", {"blocks.0.layers.0.weight": OTHER})
    with pytest.raises(ForedraftError, match=r"a target of hidden size 3, and tiny-llama has 32"):
        loaded(tmp_path / "c", {"0.0.linear.weight": torch.zeros(3, 3)})
    found = folders.medusa()
    found["2.1.weight"] = torch.zeros(4, HIDDEN)
    with pytest.raises(ForedraftError, match=r"tensor 2\.1\.weight of shape 4 × 32, where"):
        loaded(tmp_path / "d", found)
