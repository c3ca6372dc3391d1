"""Places: the latest and longest agreements, whatever was forgotten, at a constant cost a token."""

import random

import pytest

from foredraft.drafters import places
from foredraft.drafters.places import END, Places, agreement


def scan(texts, ending, limit):
    """Every occurrence of the last token, obviously right: (agreement, what followed)."""
    found = []
    for text in texts:
        for place in range(1, len(text)):
            agreed = agreement(text, place, ending)
            if agreed:
                found.append((agreed, text[place : place + limit]))
    return found[::-1]


def filled(texts):
    known = Places()
    for text in texts:
        known.extend([*text, END])
    return known


def test_agreement():
    assert agreement([9, 1, 2, 3], 3, [8, 1, 2]) == 2
    assert agreement([1, 2], 2, [1, 2]) == 2
    assert agreement([1, 2], 2, [3]) == 0
    assert agreement([7] * 100, 90, [7] * 100) == 32


@pytest.mark.parametrize("seed", range(5))
def test_what_is_found_equals_a_scan(seed):
    rng = random.Random(seed)
    texts = [rng.choices(range(40), k=rng.randrange(1, 30)) for _ in range(8)]
    known = filled(texts)
    for _ in range(4):
        for _ in range(50):
            ending = rng.choices(range(40), k=rng.randrange(1, 6))
            assert known.after(ending, 3) == scan(texts, ending, 3)[: places._RECENT]
        known.forget(len(texts.pop(0)) + 1)


def test_the_longest_agreements_are_found_among_many_places():
    text = [1, 2, 3, 4, 5, 77] + [9, 4, 5, 66] * 100
    known = filled([text])
    assert max(known.after([1, 2, 3, 4, 5], 1)) == (5, [77])


def test_a_text_goes_on_with_its_own_copy():
    known = Places()
    known.extend([1, 2, 1, 2])
    assert known.continuations(5)[0] == (2, [1, 2, 1, 2, 1])


def test_a_continuation_ends_with_its_text():
    assert filled([[1, 2, 3], [4, 5]]).after([2], 9) == [(1, [3])]
    assert filled([[1, 2, 3], [4, 5]]).after([3], 9) == []


def test_nothing_forgotten_is_found_and_nothing_of_it_stays():
    known = filled([[i, i + 1, i + 2] for i in range(0, 3000, 10)])
    for _ in range(299):
        known.forget(4)
    assert known.after([0, 1], 3) == []
    assert known.after([2990, 2991], 3) == [(2, [2992])]
    assert len(known) == 4
    assert len(known.tokens) <= 8
    assert sum(len(chain._latest) + len(chain._before) for chain in known._chains) <= 40


class Counted(list):
    """A list that counts what is read from it and moved in it."""

    work = 0

    def __getitem__(self, key):
        Counted.work += len(range(*key.indices(len(self)))) if isinstance(key, slice) else 1
        return super().__getitem__(key)

    def __delitem__(self, key):
        Counted.work += len(self)
        super().__delitem__(key)


@pytest.mark.parametrize("kind", ["varied", "repeated"])
def test_the_cost_of_a_token_does_not_depend_on_how_many_there_are(kind):
    """Adding, looking up and forgetting: as much work at 100,000 tokens as at 1,000."""
    rng = random.Random(0)
    text = [1, 2, 3, 4] if kind == "repeated" else None
    work = {}
    for size in (1_000, 100_000):
        known = Places()
        known.tokens = Counted()
        for _ in range(size // 5):
            known.extend([*(text or rng.choices(range(1000), k=4)), END])
        Counted.work = 0
        for _ in range(400):
            known.extend([1, 2, 3, 4, END])
            known.after([1, 2, 3], 8)
            known.forget(5)
        work[size] = Counted.work
    assert work[100_000] < 2 * work[1_000]
