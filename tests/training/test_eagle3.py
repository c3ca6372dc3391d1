"""Training EAGLE-3: it drafts in training as it will when it is used."""

from typing import Any

import numpy as np
import pytest
import torch

from foredraft.core.types import ROOT
from foredraft.heads.eagle3 import Eagle3, Eagle3Settings
from foredraft.heads.layers import layer_config
from foredraft.heads.recursive import RecursiveHead
from foredraft.heads.vocabulary import DraftVocabulary
from foredraft.training.eagle3 import unrolled

TAPS, SIZE, VOCAB = 3, 16, 40


def network(**settings: bool) -> Eagle3:
    torch.manual_seed(0)
    raw = {
        "vocab_size": VOCAB,
        "hidden_size": SIZE,
        "intermediate_size": 24,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
    }
    made = Eagle3(layer_config(raw), Eagle3Settings(SIZE, TAPS, VOCAB, **settings))
    for weight in made.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return made


class Kept:
    def __init__(self, taps: torch.Tensor) -> None:
        self._taps = taps

    def hidden(self, taps: Any, start: int, end: int) -> torch.Tensor:
        return self._taps[start:end]


@pytest.mark.parametrize("settings", [{}, {"norm_output": True}, {"norm_before_residual": True}])
@pytest.mark.parametrize("begin", [0, 3])
def test_unrolled_steps_are_what_drafting_gives(settings: dict[str, bool], begin: int) -> None:
    """From each place of each text, with the text's own tokens as the draft."""
    one, steps, length = network(**settings), 3, 9
    embedding = torch.nn.Embedding(VOCAB, SIZE)
    ids, taps = torch.randint(VOCAB, (2, length)), torch.randn(2, length - 1, TAPS * SIZE)
    turn = one.rotary()
    with torch.no_grad():
        outs = [one.lm_head(o) for o in unrolled(one, turn, embedding, ids, taps, begin, steps)]
    head = RecursiveHead("head", (0, 1, 2), "", one, embedding, one.lm_head, DraftVocabulary(VOCAB))
    compared = 0
    for text in range(2):
        for row in range(length - 1 - begin):
            state, read = head.open(), begin + row + 2
            drafted = [state.read(Kept(taps[text]), ids[text, :read].tolist())]
            for i, token in enumerate(ids[text, read : read + steps - 1].tolist()):
                drafted.append(state.grow([token], [ROOT if i == 0 else i - 1])[0])
            for i, logits in enumerate(drafted):
                np.testing.assert_allclose(outs[i][text, row].numpy(), logits, atol=1e-4)
                compared += 1
    assert compared == sum(out.shape[0] * out.shape[1] for out in outs)
