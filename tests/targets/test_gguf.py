"""The llama.cpp target: whatever is scored, kept and dropped, logits match the model's own."""

import gc

import numpy as np
import pytest
import torch

pytest.importorskip("llama_cpp")

from foredraft.core.errors import ForedraftError
from foredraft.targets import llama
from foredraft.targets.base import Rollback, Rows
from foredraft.targets.gguf import BITWISE_ROWS, RECURRENT_SEQUENCES, SEQUENCES
from foredraft.targets.llama import CHUNK, OUTPUTS, PAGE
from tests.targets import tiny_llama

ATTENTION = ["llama", "qwen2", "qwen3", "gemma3"]
KINDS = [*ATTENTION, "lfm2"]
TOKENS = [(7 * i + i * i) % 310 for i in range(60)]


def fresh(kind, tokens):
    """Logits of every position from one uncached forward of the original."""
    with torch.inference_mode():
        return tiny_llama.original(kind)(torch.tensor([tokens])).logits[0].float().numpy()


def close(logits, expected, noise=1e-3):
    """llama.cpp takes Gemma's activation function from a table of 16-bit numbers."""
    np.testing.assert_allclose(logits, expected, atol=noise * np.abs(expected).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kept", [1, 2, 4])
def test_rollback_leaves_no_trace(kind, kept):
    """Sliding windows (8 here, long passed) and recurrent state included."""
    target = tiny_llama.target(kind)
    sequence, text = target.open(), list(TOKENS[:20])
    target.prefill(sequence, text[:-1])
    for step in range(6):
        draft = [(3 * step + i) % 310 for i in range(3)]
        target.prefill(sequence, text[:-1])  # what a snapshot target still owes its cache
        (logits,) = target.score([Rows(sequence, [text[-1], *draft])])
        close(logits, fresh(kind, [*text, *draft])[-4:])
        target.commit(sequence, range(kept))
        assert len(sequence.tokens) >= len(text) - 1, "only rows of the pass may be lost"
        text += [*draft[: kept - 1], (11 * step) % 310]


def path_to(row, parents):
    path = []
    while row != -1:
        path.insert(0, row)
        row = parents[row]
    return path


TREE = [-1, 0, 0, 1, 2, 4, 1]


@pytest.mark.parametrize("kind", ATTENTION)
@pytest.mark.parametrize("kept", [0, 1, 3, 5, 6, None])
def test_tree_rows_equal_their_chains(kind, kept):
    target = tiny_llama.target(kind)
    sequence = target.open()
    prefix, tokens = TOKENS[:15], [50, 1, 2, 3, 4, 5, 6]
    target.prefill(sequence, prefix)
    (logits,) = target.score([Rows(sequence, tokens, TREE)])
    for row in range(len(tokens)):
        path = [tokens[i] for i in path_to(row, TREE)]
        close(logits[row], fresh(kind, [*prefix, *path])[-1])
    path = [] if kept is None else path_to(kept, TREE)
    target.commit(sequence, path)
    text = [*prefix, *(tokens[row] for row in path)]
    assert sequence.tokens == text
    (after,) = target.score([Rows(sequence, [9, 8])])
    close(after, fresh(kind, [*text, 9, 8])[-2:])
    target.commit(sequence, [0])
    assert len(sequence.ids) == 1, "branches are given back"


@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_bit_keys_and_values(kind):
    """The default: other kernels, and what they round."""
    target = tiny_llama.target(kind, kv="f16")
    sequence = target.open()
    target.prefill(sequence, TOKENS[:20])
    for kept in (2, 1, 3):
        text = list(sequence.tokens)
        (logits,) = target.score([Rows(sequence, TOKENS[20:23])])
        close(logits, fresh(kind, [*text, *TOKENS[20:23]])[-3:], noise=5e-3)
        target.commit(sequence, range(kept))
        target.prefill(sequence, [*text, *TOKENS[20 : 20 + kept]])


def test_a_key_value_type_the_model_cannot_have_is_one_sentence():
    with pytest.raises(ForedraftError, match=r"cache of 512 tokens .*q8_0.* --kv-type") as raised:
        tiny_llama.target(kv="q8_0").open()
    assert "\n" not in str(raised.value)


def test_a_tree_on_recurrent_layers_is_refused():
    target = tiny_llama.target("lfm2")
    with pytest.raises(ForedraftError, match="chains only"):
        target.score([Rows(target.open(), [1, 2, 3], [-1, 0, 0])])


@pytest.mark.parametrize("kind", KINDS)
def test_several_sequences_share_a_pass(kind):
    target = tiny_llama.target(kind)
    forks = [-1, 0, 0] if target.capabilities.trees else [-1, 0, 1]
    texts = [TOKENS[n : n + 10 + 3 * n] for n in range(4)]
    shapes = [[-1], [-1, 0], forks, [-1, 0, 1, 2, 3]]
    batch = []
    for text, parents in zip(texts, shapes, strict=True):
        sequence = target.open()
        target.prefill(sequence, text)
        batch.append(Rows(sequence, range(40, 40 + len(parents)), parents))
    for text, rows, logits in zip(texts, batch, target.score(batch), strict=True):
        for row in range(len(rows.tokens)):
            path = [rows.tokens[i] for i in path_to(row, rows.parents)]
            close(logits[row], fresh(kind, [*text, *path])[-1])
        target.commit(rows.sequence, [0])
        target.prefill(rows.sequence, [*text, 40])
        (after,) = target.score([Rows(rows.sequence, [9])])
        close(after, fresh(kind, [*text, 40, 9])[-1:])


def test_more_rows_than_a_pass_answers_take_several_passes():
    target = tiny_llama.target()
    batch = [Rows(target.open(), [n, *range(29)]) for n in range(5)]
    assert sum(len(rows.tokens) for rows in batch) > 2 * OUTPUTS
    for rows, logits in zip(batch, target.score(batch), strict=True):
        close(logits, fresh("llama", rows.tokens))


@pytest.mark.parametrize("kind", KINDS)
def test_prefix_reuse_between_turns(kind):
    target = tiny_llama.target(kind)
    sequence = target.open()
    target.prefill(sequence, TOKENS[:20])
    for text in (TOKENS[:40], [*TOKENS[:25], 1, 2, 3], TOKENS[:10], [5, 6, 7]):
        target.prefill(sequence, text)
        assert sequence.tokens == text
        (logits,) = target.score([Rows(sequence, [4])])
        target.commit(sequence, [0])
        close(logits[0], fresh(kind, [*text, 4])[-1])


def test_attention_rewinds_without_reading_again():
    target = tiny_llama.target()
    sequence = target.open()
    target.prefill(sequence, TOKENS[:40])
    assert target.rewind(sequence, TOKENS[:30]) == 30
    assert target.capabilities.rollback is Rollback.FREE


@pytest.mark.parametrize("back_to", [5, 12, 60])
def test_a_window_whose_cells_were_used_again_is_read_anew(back_to):
    """llama.cpp gives a sequence's cells to another once they have left its sliding window."""
    kind, text = "gemma3", [(7 * i + i * i) % 310 for i in range(120)]
    target = tiny_llama.target(kind)
    taker, sequence = target.open(), target.open()
    target.prefill(taker, text[:100])
    target.prefill(sequence, text[:100])
    target.prefill(taker, text[:90])
    target.prefill(taker, [*text[:90], *text[20:50]])  # ten cells are free, the others taken
    assert sequence.context.span(sequence.ids[0])[0] > 0
    target.rewind(sequence, text[:back_to])
    target.prefill(sequence, text[:back_to])
    (logits,) = target.score([Rows(sequence, [4])])
    close(logits[0], fresh(kind, [*text[:back_to], 4])[-1])


def test_a_prompt_longer_than_a_pass():
    target = tiny_llama.target()
    sequence = target.open()
    text, heard = [(3 * i + i * i) % 310 for i in range(CHUNK + 50)], []
    target.prefill(sequence, text, heard.append)
    assert heard == [CHUNK, CHUNK + 50]
    (logits,) = target.score([Rows(sequence, [4])])
    close(logits[0], fresh("llama", [*text, 4])[-1])


@pytest.mark.parametrize(("kind", "most"), [("llama", SEQUENCES), ("lfm2", RECURRENT_SEQUENCES)])
def test_sequences_come_back_when_nobody_holds_them(kind, most):
    target = tiny_llama.target(kind)
    for _ in range(3):
        held = [target.open() for _ in range(most)]
        target.prefill(held[-1], TOKENS[:5])
        with pytest.raises(ForedraftError, match=f"holds {most} sequences"):
            target.open()
        del held
        gc.collect()
    sequence = target.open()
    (logits,) = target.score([Rows(sequence, TOKENS[:8])])
    close(logits, fresh(kind, TOKENS[:8]))


def test_a_wide_tree_without_sequences_left_is_refused_and_leaves_a_valid_cache():
    target = tiny_llama.target()
    held = [target.open() for _ in range(SEQUENCES - 2)]
    with pytest.raises(ForedraftError, match="narrower trees"):
        target.score([Rows(held[0], [1, 2, 3, 4, 5, 6], [-1, 0, 0, 0, 0, 0])])
    (logits,) = target.score([Rows(held[0], TOKENS[:5])])
    close(logits, fresh("llama", TOKENS[:5]))
    assert [target.open(), target.open()], "its branches came back"


def test_a_full_cache_is_one_sentence_and_what_was_in_it_stays():
    target = tiny_llama.target(context=256)
    one, two = target.open(), target.open()
    target.prefill(one, [1] * 200)
    with pytest.raises(ForedraftError, match="all its sequences together hold 256"):
        target.prefill(two, [2] * 100)
    target.prefill(two, [2] * 20)
    (logits,) = target.score([Rows(two, [4])])
    close(logits[0], fresh("llama", [2] * 20 + [4])[-1])


def test_room_ends_at_the_context_and_at_a_page():
    target = tiny_llama.target()
    sequence = target.open()
    target.prefill(sequence, [1] * 510)
    assert target.room(sequence) == 2
    bitwise = target.open(bitwise=True)
    target.prefill(bitwise, [1] * (PAGE - 3))
    assert target.room(bitwise) == 3


@pytest.mark.parametrize("kind", ATTENTION)
def test_bitwise_rows_do_not_depend_on_grouping(kind, monkeypatch):
    """Across a page's edge too, where the length attention looks at changes."""
    target = tiny_llama.target(kind)
    if not target.bit_stable:
        pytest.skip("this machine's kernels are not row-stable for this model")
    rows = target.open(bitwise=True).rows
    assert rows in BITWISE_ROWS
    run, passes = llama.Context.run, []

    def watched(context, tokens, positions, owners, logits):
        passes.append([position // PAGE for position in positions] if logits else [])
        return run(context, tokens, positions, owners, logits)

    monkeypatch.setattr(llama.Context, "run", watched)
    text = [(5 * i + i * i) % 310 for i in range(PAGE + 40)]
    results = []
    for sizes in ([1], [rows], [2, 3, 1]):
        sequence = target.open(bitwise=True)
        target.prefill(sequence, text[: PAGE - 30])
        made, turn = [], 0
        while len(sequence.tokens) < len(text):
            at = len(sequence.tokens)
            size = min(sizes[turn % len(sizes)], target.room(sequence), len(text) - at)
            draft = [*text[at : at + size], *[7] * rows][: target.room(sequence)]
            made.append(target.score([Rows(sequence, draft)])[0][:size])
            target.commit(sequence, range(size))
            turn += 1
        results.append(np.concatenate(made))
    close(results[0], fresh(kind, text)[PAGE - 30 :])
    assert all(len(pages) == rows and len(set(pages)) == 1 for pages in passes if pages)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_bitwise_is_refused_where_it_cannot_be_promised():
    recurrent, target = tiny_llama.target("lfm2"), tiny_llama.target()
    assert recurrent.capabilities.rollback is Rollback.SNAPSHOT
    assert not recurrent.bit_stable
    with pytest.raises(ForedraftError, match="recurrent"):
        recurrent.open(bitwise=True)
    with pytest.raises(ForedraftError, match="chains"):
        target.score([Rows(target.open(bitwise=True), [1, 2, 3], [-1, 0, 0])])


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_pass_leaves_a_valid_cache(kind, monkeypatch):
    target = tiny_llama.target(kind)
    sequence = target.open()
    target.prefill(sequence, TOKENS[:20])
    decode = llama.lib.llama_decode

    def interrupt(*arguments):
        decode(*arguments)
        raise KeyboardInterrupt

    parents = [-1, 0, 0, 1] if target.capabilities.trees else None
    for again in (
        lambda: target.score([Rows(sequence, TOKENS[20:24], parents)]),
        lambda: target.prefill(sequence, TOKENS[:40]),
    ):
        monkeypatch.setattr(llama.lib, "llama_decode", interrupt)
        with pytest.raises(KeyboardInterrupt):
            again()
        monkeypatch.undo()
        target.prefill(sequence, TOKENS[:20])
        (logits,) = target.score([Rows(sequence, TOKENS[20:22])])
        close(logits, fresh(kind, TOKENS[:22])[-2:])


def test_a_failing_llama_cpp_is_one_sentence(monkeypatch):
    target = tiny_llama.target()
    monkeypatch.setattr(llama.lib, "llama_decode", lambda *_: -3)
    with pytest.raises(ForedraftError, match="failed to run llama") as raised:
        target.score([Rows(target.open(), [1])])
    assert "\n" not in str(raised.value)


def test_a_bitwise_pass_that_fails_at_a_pages_end_leaves_a_valid_cache(monkeypatch):
    """Its last rows had been dropped to be run again in front of the new ones."""
    target = tiny_llama.target()
    sequence, text = target.open(bitwise=True), [(3 * i + i * i) % 310 for i in range(PAGE)]
    target.prefill(sequence, text[:-1])
    monkeypatch.setattr(llama.lib, "llama_decode", lambda *_: -3)
    with pytest.raises(ForedraftError, match="failed to run"):
        target.score([Rows(sequence, text[-1:])])
    monkeypatch.undo()
    target.prefill(sequence, text[:-1])
    (logits,) = target.score([Rows(sequence, text[-1:])])
    close(logits, fresh("llama", text)[-1:])


def test_a_draft_head_is_told_that_there_are_no_hidden_states():
    with pytest.raises(ForedraftError, match=r"llama\.cpp.*--engine torch"):
        tiny_llama.target("llama").tap((0,))
