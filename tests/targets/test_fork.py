"""A sequence that begins with another's tokens: the same numbers, and both go on undisturbed."""

from importlib.util import find_spec

import numpy as np
import pytest

from foredraft.core.errors import ForedraftError
from foredraft.targets.base import Rows
from tests import tiny

TARGETS = [
    *(("torch", kind) for kind in ("llama", "qwen2", "qwen3", "gemma3")),
    *(("llama.cpp", kind) for kind in ("llama", "gemma3")),
]
RECURRENT = [("torch", "qwen3_next"), ("llama.cpp", "lfm2")]
NOISE = {"torch": 2e-4, "llama.cpp": 1e-3}
TEXT = [(7 * i + i * i) % 31 for i in range(200)]


def made(engine, kind, **how):
    if engine == "torch":
        return tiny.target(kind, **how)
    if find_spec("llama_cpp") is None:
        pytest.skip("llama-cpp-python is not installed")
    from tests.targets import tiny_llama

    return tiny_llama.target(kind, **how)


def opened(target, text):
    sequence = target.open()
    target.prefill(sequence, text)
    return sequence


def assert_continues(target, sequence, text, tokens=(4, 5), judge=None):
    """`sequence` holds `text` and answers as one of `judge`'s that has seen nothing else."""
    assert sequence.tokens == list(text)
    (logits,) = target.score([Rows(sequence, tokens)])
    target.commit(sequence, [])
    judge = judge or target
    (expected,) = judge.score([Rows(opened(judge, text), tokens)])
    np.testing.assert_allclose(logits, expected, atol=NOISE[target.engine] * np.abs(expected).max())


@pytest.mark.parametrize(("engine", "kind"), TARGETS)
@pytest.mark.parametrize("length", [0, 1, 12, 30])
def test_a_fork_continues_as_its_text_would(engine, kind, length):
    """Sliding windows (8 tokens) included."""
    target = made(engine, kind)
    sequence = opened(target, TEXT[:30])
    forked = target.fork(sequence, length)
    assert_continues(target, forked, TEXT[:length])
    assert_continues(target, sequence, TEXT[:30])


@pytest.mark.parametrize(("engine", "kind"), TARGETS)
def test_both_go_their_own_way(engine, kind):
    target = made(engine, kind)
    left = opened(target, TEXT[:30])
    right = target.fork(left, 20)
    other = [3] * 25
    target.prefill(right, TEXT[:20] + other)
    target.prefill(left, TEXT[:40])
    target.rewind(left, TEXT[:15])
    target.prefill(left, TEXT[:15] + other)
    target.score([Rows(left, [1, 2, 3], [-1, 0, 0]), Rows(right, [6, 7])])
    target.commit(left, [0, 2])
    target.commit(right, [0])
    assert_continues(target, left, [*TEXT[:15], *other, 1, 3])
    assert_continues(target, right, [*TEXT[:20], *other, 6])
    grandchild = target.fork(right, 22)
    del right
    target.prefill(grandchild, [*TEXT[:20], 3, 3])  # a window's cells may have been used again
    assert_continues(target, grandchild, [*TEXT[:20], 3, 3])


@pytest.mark.parametrize(("engine", "kind"), TARGETS)
def test_more_than_there_is_is_all_there_is(engine, kind):
    target = made(engine, kind)
    assert_continues(target, target.fork(opened(target, TEXT[:10]), 99), TEXT[:10])
    assert_continues(target, target.fork(target.open(), 5), [])


@pytest.mark.parametrize(("engine", "kind"), TARGETS)
def test_rows_not_yet_committed_are_not_shared(engine, kind):
    target = made(engine, kind)
    sequence = opened(target, TEXT[:10])
    target.score([Rows(sequence, [1, 2, 3, 4], [-1, 0, 0, 2])])
    forked = target.fork(sequence, 10)
    target.commit(sequence, [0, 2, 3])
    assert_continues(target, forked, TEXT[:10])
    assert_continues(target, sequence, [*TEXT[:10], 1, 3, 4])


@pytest.mark.parametrize(("engine", "kind"), RECURRENT)
def test_recurrent_layers_share_nothing(engine, kind):
    target = made(engine, kind)
    sequence = opened(target, TEXT[:10])
    forked = target.fork(sequence, 8)
    assert forked.tokens == []
    target.prefill(forked, TEXT[:8])
    assert_continues(target, forked, TEXT[:8])


@pytest.mark.parametrize("engine", ["torch", "llama.cpp"])
def test_bitwise_sequences_share_nothing(engine):
    """Whose bits may not depend on what another sequence did."""
    target = made(engine, "llama")
    if not target.bit_stable:
        pytest.skip("this machine's kernels are not row-stable")
    sequence = target.open(bitwise=True)
    target.prefill(sequence, TEXT[:20])
    forked = target.fork(sequence, 20)
    assert forked.tokens == []
    for each in (sequence, forked):
        target.prefill(each, TEXT[:20])
    left, right = (target.score([Rows(each, [1, 2])])[0] for each in (sequence, forked))
    np.testing.assert_array_equal(left, right)


def test_llama_cpp_shares_the_cells():
    """Four texts of 150 tokens in a cache of 256."""
    target, judge = made("llama.cpp", "llama", context=256), made("llama.cpp", "llama")
    assert target.capabilities.cells == 256
    first = opened(target, TEXT[:150])
    others = [target.fork(first, 150) for _ in range(3)]
    texts = [[*TEXT[:150], *[n] * 20] for n in range(3)]
    for sequence, text in zip(others, texts, strict=True):
        target.prefill(sequence, text)
    for sequence, text in zip([first, *others], [TEXT[:150], *texts], strict=True):
        assert_continues(target, sequence, text, judge=judge)


def test_a_window_whose_cells_were_used_again_is_not_shared():
    """Others took cells that the text had left behind: its end can be shared, its middle cannot."""
    target, judge = made("llama.cpp", "gemma3"), made("llama.cpp", "gemma3")
    gone, first = opened(target, [1] * 20), opened(target, TEXT)
    del gone
    kept = opened(target, [2] * 120)
    for length, shared in ((200, 200), (150, 150), (90, 0)):
        forked = target.fork(first, length)
        assert_continues(target, forked, TEXT[:shared], judge=judge)
    assert_continues(target, kept, [2] * 120, judge=judge)


def test_what_is_let_go_is_free_at_once():
    target = made("llama.cpp", "llama", context=256)
    one, two = opened(target, TEXT), target.open()
    with pytest.raises(ForedraftError, match="all its sequences together hold 256"):
        target.prefill(two, TEXT)
    target.rewind(one, [])
    target.prefill(two, TEXT)
    del two
    target.prefill(one, TEXT)
    assert one.tokens == TEXT


def test_pytorchs_memory_is_as_large_as_it_is():
    assert tiny.target().capabilities.cells is None
