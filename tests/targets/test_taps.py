"""Tapped hidden states: those of Transformers' `output_hidden_states`, whatever was taken back."""

import pytest
import torch

from foredraft.core.errors import ForedraftError
from foredraft.targets.base import Rows
from tests import tiny

TOKENS = [(7 * i + i * i) % 31 for i in range(60)]
KINDS = ["llama", "qwen2", "qwen3", "gemma3", "gemma4", "qwen3_next"]
TAPS = (2, 0, 1)
"""In no order: taps lie side by side as asked. 2 is what the last norm gives, but for Gemma 4."""


def tapped(kind="llama"):
    target = tiny.target(kind)
    target.tap(TAPS)
    return target


def expected(target, tokens, taps=TAPS):
    """As Transformers itself returns them, from one uncached forward."""
    with torch.inference_mode():
        states = target.model(torch.tensor([tokens]), output_hidden_states=True).hidden_states
    return torch.cat([states[tap][0] for tap in taps], dim=-1)


def assert_in_step(target, sequence, tokens=None):
    tokens = sequence.tokens if tokens is None else tokens
    found = sequence.hidden(TAPS, 0, len(tokens))
    torch.testing.assert_close(found, expected(target, tokens), atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_read_in_chunks(kind, monkeypatch):
    monkeypatch.setattr("foredraft.targets.torch_hf.PREFILL_CHUNK", 7)
    target = tapped(kind)
    sequence = target.open()
    target.prefill(sequence, TOKENS)
    assert_in_step(target, sequence)
    part = sequence.hidden((1,), 5, 9)
    torch.testing.assert_close(part, expected(target, TOKENS, (1,))[5:9], atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kept", [0, 1, 3, 4])
def test_rounds(kind, kept):
    """Also where a recurrent model takes all of a partly refused pass back: the accepted tokens'
    states are there before it has read them again."""
    target = tapped(kind)
    sequence = target.open()
    text = list(TOKENS[:10])
    target.prefill(sequence, text[:-1])
    for step in range(4):
        draft = [(3 * step + i) % 31 for i in range(3)]
        target.prefill(sequence, text[:-1])
        target.score([Rows(sequence, [text[-1], *draft])])
        target.commit(sequence, range(kept))
        if kept:
            text += [*draft[: kept - 1], (11 * step) % 31]
        assert_in_step(target, sequence, text[:-1])


@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_the_accepted_path_of_a_tree(kind):
    target = tapped(kind)
    sequence = target.open()
    target.prefill(sequence, TOKENS[:14])
    target.score([Rows(sequence, [9, 1, 2, 3, 4, 5], [-1, 0, 0, 1, 2, 4])])
    target.commit(sequence, [0, 2, 4, 5])
    assert sequence.tokens == [*TOKENS[:14], 9, 2, 4, 5]
    assert_in_step(target, sequence)


def test_several_sequences_in_one_pass():
    target = tapped()
    assert target._mixes
    sequences = [target.open() for _ in range(3)]
    for i, sequence in enumerate(sequences):
        target.prefill(sequence, TOKENS[i : 9 + 2 * i])
    rows = [
        Rows(sequences[0], [1, 2, 3]),
        Rows(sequences[1], [4, 5, 6, 7], [-1, 0, 0, 2]),
        Rows(sequences[2], [8]),
    ]
    target.score(rows)
    for sequence, path in zip(sequences, ([0, 1], [0, 2, 3], [0]), strict=True):
        target.commit(sequence, path)
        assert_in_step(target, sequence)


def test_padded_rows_leave_no_trace():
    target = tapped()
    sequence = target.open(bitwise=True)
    target.prefill(sequence, TOKENS[:5])
    for chunk in ([1, 2], [3], [4, 5, 6]):
        target.score([Rows(sequence, chunk)])
        target.commit(sequence, range(len(chunk)))
        assert_in_step(target, sequence)


@pytest.mark.parametrize("kind", ["llama", "qwen3_next"])
def test_rewound_and_forked(kind):
    target = tapped(kind)
    sequence = target.open()
    target.prefill(sequence, TOKENS[:20])
    forked = target.fork(sequence, 12)
    target.prefill(forked, [*TOKENS[:12], 3, 4])
    assert_in_step(target, forked)
    target.prefill(sequence, [*TOKENS[:8], 30, 29])
    assert_in_step(target, sequence)
    assert_in_step(target, forked)


def test_an_interrupted_pass(monkeypatch):
    target = tapped()
    sequence = target.open()
    target.prefill(sequence, TOKENS[:8])

    def broken(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(target.model.lm_head, "forward", broken)
        with pytest.raises(KeyboardInterrupt):
            target.score([Rows(sequence, [1, 2])])
    target.prefill(sequence, TOKENS[:9])
    assert_in_step(target, sequence)


def test_what_was_read_before_the_tap_is_read_again():
    target = tiny.target()
    sequence = target.open()
    target.prefill(sequence, TOKENS[:8])
    target.tap(TAPS)
    with pytest.raises(ForedraftError, match="prefill"):
        sequence.hidden(TAPS, 0, 8)
    target.prefill(sequence, TOKENS[:8])
    assert_in_step(target, sequence)
    target.tap((1,))
    assert target.rewind(sequence, TOKENS[:8]) == 8, "nothing new was asked for"


def test_nothing_is_kept_of_calls_that_are_no_pass():
    target = tapped()
    expected(target, TOKENS[:5])
    assert target._taps._caught is None


def test_a_head_for_another_target():
    with pytest.raises(ForedraftError, match="has 2 layers"):
        tiny.target().tap((3,))


def test_layers_that_run_only_rows_whose_logits_are_wanted():
    """Of a prompt that is the last row, unless a later layer is tapped."""
    target, taps = tiny.target("gemma4"), (5, 6)
    target.tap(taps)
    sequence = target.open()
    target.prefill(sequence, TOKENS)
    found = sequence.hidden(taps, 0, len(TOKENS))
    torch.testing.assert_close(found, expected(target, TOKENS, taps), atol=2e-4, rtol=1e-4)
