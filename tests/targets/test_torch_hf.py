"""The Transformers target: whatever is scored, kept and dropped, logits match a fresh forward."""

import numpy as np
import pytest
import torch

from foredraft.core.errors import ForedraftError
from foredraft.targets.base import Rollback, Rows
from foredraft.targets.torch_hf import BITWISE_BUCKET, BITWISE_ROWS
from tests import tiny

KINDS = ["llama", "qwen2", "gemma3", "qwen3_next"]
TOKENS = [(7 * i + i * i) % 31 for i in range(60)]


def fresh(target, tokens):
    """Logits of every position from one uncached forward."""
    with torch.inference_mode():
        return target.model(torch.tensor([tokens])).logits[0].float().numpy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kept", [1, 2, 3, 4])
def test_rollback_leaves_no_trace(kind, kept):
    """Sliding windows (8 here, long passed) and recurrent state included."""
    target = tiny.target(kind)
    sequence = target.open()
    text = list(TOKENS[:20])
    target.prefill(sequence, text[:-1])
    for step in range(6):
        draft = [(3 * step + i) % 31 for i in range(3)]
        target.prefill(sequence, text[:-1])  # what a snapshot target still owes its cache
        (logits,) = target.score([Rows(sequence, [text[-1], *draft])])
        expected = fresh(target, [*text, *draft])[-4:]
        np.testing.assert_allclose(logits, expected, atol=2e-4)
        target.commit(sequence, range(kept))
        text += [*draft[: kept - 1], (11 * step) % 31]


@pytest.mark.parametrize("kind", ["llama", "qwen2", "gemma3", "mistral"])
def test_tree_rows_equal_their_chains(kind):
    target = tiny.target(kind)
    sequence = target.open()
    prefix = TOKENS[:15]
    target.prefill(sequence, prefix[:-1])
    tokens, parents = [prefix[-1], 1, 2, 3, 4, 5], [-1, 0, 0, 1, 2, 4]
    (logits,) = target.score([Rows(sequence, tokens, parents)])
    for row in range(len(tokens)):
        path, node = [], row
        while node != -1:
            path.insert(0, tokens[node])
            node = parents[node]
        expected = fresh(target, [*prefix[:-1], *path])[-1]
        np.testing.assert_allclose(logits[row], expected, atol=2e-4)
    target.commit(sequence, [0, 2, 4, 5])
    assert sequence.tokens == [*prefix, 2, 4, 5]
    (after,) = target.score([Rows(sequence, [9])])
    np.testing.assert_allclose(after[0], fresh(target, [*prefix, 2, 4, 5, 9])[-1], atol=2e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_prefix_reuse_between_turns(kind):
    target = tiny.target(kind)
    sequence = target.open()
    target.prefill(sequence, TOKENS[:20])
    for text in (TOKENS[:40], [*TOKENS[:25], 1, 2, 3], TOKENS[:10], [5, 6, 7]):
        target.prefill(sequence, text)
        assert sequence.tokens == text
        (logits,) = target.score([Rows(sequence, [4])])
        target.commit(sequence, [0])
        np.testing.assert_allclose(logits[0], fresh(target, [*text, 4])[-1], atol=2e-4)


def test_attention_rewinds_without_reading_again():
    target = tiny.target()
    sequence = target.open()
    target.prefill(sequence, TOKENS[:40])
    assert target.rewind(sequence, TOKENS[:30]) == 30
    assert target.capabilities.rollback is Rollback.FREE


def test_recurrent_models_say_so():
    target = tiny.target("qwen3_next")
    assert target.capabilities.rollback is Rollback.SNAPSHOT
    assert not target.capabilities.trees
    assert not target.bit_stable
    with pytest.raises(ForedraftError, match="recurrent"):
        target.open(bitwise=True)


@pytest.mark.parametrize("kind", ["llama", "gemma3"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_bitwise_rows_do_not_depend_on_grouping(kind, dtype):
    """Across a bucket's edge too, where the key/value length changes with the position alone."""
    target = tiny.target(kind)
    target.model.to(dtype)
    if not target.bit_stable:
        pytest.skip("this machine's kernels are not row-stable for this model")
    text = [(5 * i + i * i) % 31 for i in range(BITWISE_BUCKET + 40)]
    results = []
    for sizes in ([1], [BITWISE_ROWS], [6, 3, 8, 1, 5]):
        sequence = target.open(bitwise=True)
        target.prefill(sequence, text[: BITWISE_BUCKET - 30])
        rows, turn = [], 0
        while len(sequence.tokens) < len(text):
            at = len(sequence.tokens)
            size = min(sizes[turn % len(sizes)], target.room(sequence), len(text) - at)
            rows.append(target.score([Rows(sequence, text[at : at + size])])[0])
            target.commit(sequence, range(size))
            turn += 1
        results.append(np.concatenate(rows))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_layers_that_see_chunks_verify_no_trees():
    """Whose masks the model makes, for chains only."""
    config = {"layer_types": ["chunked_attention", "full_attention"], "attention_chunk_size": 8}
    assert not tiny.target(**config).capabilities.trees
    assert tiny.target("gemma3").capabilities.trees


def test_bitwise_refuses_trees():
    target = tiny.target()
    with pytest.raises(ForedraftError, match="chains"):
        target.score([Rows(target.open(bitwise=True), [1, 2, 3], [-1, 0, 0])])


def test_room_ends_at_the_context_and_at_a_bucket():
    target = tiny.target()
    sequence = target.open()
    target.prefill(sequence, [1] * 510)
    assert target.room(sequence) == 2
    bitwise = target.open(bitwise=True)
    target.prefill(bitwise, [1] * (BITWISE_BUCKET - 3))
    assert target.room(bitwise) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_pass_leaves_a_valid_cache(kind, monkeypatch):
    target = tiny.target(kind)
    sequence = target.open()
    target.prefill(sequence, TOKENS[:20])
    head = target.model.lm_head

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(target.model.lm_head, "forward", interrupt)
    with pytest.raises(KeyboardInterrupt):
        target.score([Rows(sequence, TOKENS[20:24])])
    monkeypatch.undo()
    assert target.model.lm_head is head
    target.prefill(sequence, TOKENS[:20])
    (logits,) = target.score([Rows(sequence, TOKENS[20:22])])
    np.testing.assert_allclose(logits, fresh(target, TOKENS[:22])[-2:], atol=2e-4)


def test_reading_a_prompt_does_not_copy_the_output_matrix():
    """A prompt's last hidden state was cut out as a view, for which PyTorch copies the matrix."""
    read = []
    one = tiny.target()
    output = one.model.get_output_embeddings()
    output.register_forward_pre_hook(lambda module, inputs: read.append(inputs[0]))
    one.prefill(one.open(), list(range(8)))
    (rows,) = read
    assert rows.shape[:2] == (1, 1)
    assert rows.stride(0) == rows.stride(1)
