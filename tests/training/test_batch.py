"""Texts side by side are read as each is alone, and leave the same hidden states."""

from typing import Any

import pytest
import torch

from foredraft.core.errors import ForedraftError
from foredraft.training.batch import Batch
from tests.tiny import target

TAPS = (0, 1)
HEADER = [5, 6, 7]


@torch.no_grad()
def alone(big: Any, tokens: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits after the last token, and the hidden states at TAPS and after the last norm."""
    out = big.model(torch.tensor([tokens]), output_hidden_states=True)
    return out.logits[0, -1], torch.cat([out.hidden_states[tap][0] for tap in (*TAPS, -1)], 1)


@pytest.mark.parametrize("kind", ["llama", "qwen3", "mistral", "gemma3"])
@pytest.mark.parametrize("header", [[], HEADER])
def test_texts_of_any_lengths_are_read_as_each_alone(kind: str, header: list[int]) -> None:
    big = target(kind)
    batch = Batch(big, TAPS, 3, header)
    texts = [[*header, *range(8, 8 + n)] for n in (4, 1, 9)]
    batch.add(texts)
    for token in (1, 2, 3, 4):
        texts = [[*text, token] for text in texts]
        logits = batch.step([token] * 3)
        for row, text in enumerate(texts):
            torch.testing.assert_close(logits[row], alone(big, text)[0], atol=1e-4, rtol=1e-4)
    for place, text in enumerate(texts):
        wanted = alone(big, text)[1]
        torch.testing.assert_close(batch.hidden(place).float(), wanted, atol=2e-2, rtol=2e-3)


def test_a_text_that_is_dropped_makes_room_for_another() -> None:
    big = target()
    batch = Batch(big, TAPS, 2, HEADER)
    first, second, third = [*HEADER, 1], [*HEADER, 2, 3, 4], [*HEADER, 9]
    batch.add([first, second])
    batch.step([11, 12])
    batch.drop(0)
    batch.add([third])
    logits = batch.step([13, 14])
    for row, text in enumerate(([*second, 12, 13], [*third, 14])):
        torch.testing.assert_close(logits[row], alone(big, text)[0], atol=1e-4, rtol=1e-4)
        assert len(batch.hidden(row)) == len(text)
    assert len(batch) == 2


def test_a_text_without_the_header_is_read_whole() -> None:
    big = target()
    batch = Batch(big, TAPS, 2, HEADER)
    batch.add([[1, 2], [*HEADER, 3]])
    logits = batch.step([4, 4])
    for row, text in enumerate(([1, 2, 4], [*HEADER, 3, 4])):
        torch.testing.assert_close(logits[row], alone(big, text)[0], atol=1e-4, rtol=1e-4)


def test_recurrent_layers_are_refused() -> None:
    with pytest.raises(ForedraftError, match="drafts are trained for such targets only"):
        Batch(target("qwen3_next"), (), 2)
