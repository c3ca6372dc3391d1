"""What was read for one text serves the next."""

import pytest

from foredraft.engine.pool import Pool
from tests import tiny

TEXT = [i * 7 % 26 for i in range(60)]


@pytest.fixture
def pool():
    return Pool(tiny.target(), 2)


def read(pool, sequence, text):
    pool._target.prefill(sequence, text)
    return sequence


def test_a_continued_text_goes_on_in_its_own_sequence(pool):
    first = read(pool, pool.take(TEXT, False), TEXT)
    pool.give(first)
    again = pool.take([*TEXT, 1, 2], False)
    assert again is first
    assert again.tokens == TEXT


def test_a_text_in_use_is_shared_and_left_alone(pool):
    first = read(pool, pool.take(TEXT, False), TEXT)
    other = pool.take([*TEXT[:40], 3, 3], False)
    assert other is not first
    assert (other.tokens, first.tokens) == (TEXT[:40], TEXT)


def test_a_long_text_is_not_lost_for_a_short_beginning(pool):
    first = read(pool, pool.take(TEXT, False), TEXT)
    pool.give(first)
    pool.take([*TEXT[:20], 3, 3], False)
    assert first.tokens == TEXT


def test_few_shared_tokens_are_read_again(pool):
    first = read(pool, pool.take(TEXT, False), TEXT)
    assert pool.take([*TEXT[:5], 9], False).tokens == []
    assert first.tokens == TEXT


def test_the_longest_unused_is_forgotten_first(pool):
    texts = [[n] * 30 for n in range(3)]
    for sequence, text in [(pool.take(text, False), text) for text in texts]:
        read(pool, sequence, text)
        pool.give(sequence)
    assert pool.tokens == 60
    assert [len(pool.take([*text, 1], False).tokens) for text in texts[:2]] == [0, 30]
    assert pool.forget()
    assert not pool.forget()


def test_a_bitwise_sequence_is_begun_anew_and_its_memory_used_again(pool):
    first = read(pool, pool.take(TEXT, True), TEXT)
    assert pool.tokens == 0
    pool.give(first)
    assert pool.take([*TEXT, 1], True) is first
    assert first.tokens == []
    assert pool.take(TEXT, True) is not first


def test_rows_of_a_failed_round_are_taken_back(pool):
    from foredraft.targets.base import Rows

    first = read(pool, pool.take(TEXT, False), TEXT)
    pool._target.score([Rows(first, [1, 2, 3])])
    pool.give(first)
    assert pool.take([*TEXT, 4], False).tokens == TEXT
