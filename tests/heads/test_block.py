"""Heads that draft a block at once: the same logits as other implementations give."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from foredraft.core.types import ROOT
from foredraft.heads.load import load_head
from tests import tiny
from tests.heads.record import RECORDED

CASES = sorted(
    path.name for kind in ("dflash*", "dspark*", "peagle*") for path in RECORDED.glob(kind)
)


class Told:
    """Features that are given: [tokens, taps · H]."""

    def __init__(self, hidden: torch.Tensor) -> None:
        self.states = hidden
        self.asked: list[tuple[int, int]] = []

    def hidden(self, taps: Sequence[int], start: int, end: int) -> torch.Tensor:
        self.asked.append((start, end))
        return self.states[start:end]


def target_with(expected):
    """A target of the recorded embeddings and output matrix."""
    vocab, size = expected["embeddings"].shape
    target = tiny.target(vocab_size=vocab, hidden_size=size, num_hidden_layers=4)
    target.model.get_input_embeddings().weight.copy_(expected["embeddings"])
    if len(expected["output"]) == vocab:
        target.model.get_output_embeddings().weight.copy_(expected["output"])
    return target


def chain(state, features, text, after):
    """Logits [reach, V] after a text and after each of the tokens that follow, grown one by one."""
    rows = [state.read(features, text)]
    for node, token in enumerate(after):
        rows.append(state.grow([token], [node - 1 if node else ROOT])[0])
    return np.stack(rows)


@pytest.mark.parametrize("name", CASES)
def test_the_same_logits_as_speculators(name):
    folder = RECORDED / name
    expected = load_file(folder / "recorded.st")
    head = load_head(str(folder), target_with(expected))
    tokens, features = expected["tokens"].tolist(), Told(expected["hidden"])
    state = head.open()
    for end, logits in zip(expected["ends"].tolist(), expected["logits"], strict=True):
        state.rewind(min(len(state.tokens), end - 1))
        assert len(logits) == head.reach
        got = chain(state, features, tokens[:end], tokens[end : end + head.reach - 1])
        np.testing.assert_allclose(got[:, expected["ids"]], logits, rtol=1e-4, atol=1e-5)
        others = np.setdiff1d(np.arange(got.shape[1]), expected["ids"])
        assert np.all(got[:, others] == -np.inf)
