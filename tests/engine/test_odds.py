"""Chances learned from evidence."""

from random import Random

import pytest

from foredraft.engine.odds import Odds, TextOdds

EXPECTED = ((1.0, 0.3), (4.0, 0.7), (10.0, 0.9))


def test_before_anything_happened_the_expectation_holds():
    odds = Odds(EXPECTED)
    assert [round(odds.chance(e), 2) for e in (0, 1, 3.9, 4, 9, 10, 99)] == [
        0.3, 0.3, 0.3, 0.7, 0.7, 0.9, 0.9,
    ]  # fmt: skip


@pytest.mark.parametrize("truth", [0.1, 0.5, 0.95])
def test_chances_become_what_happens(truth):
    odds, random = Odds(EXPECTED), Random(0)
    for _ in range(2000):
        odds.learn(4, random.random() < truth)
    assert odds.chance(5) == pytest.approx(truth, abs=0.08)
    assert odds.chance(1) == pytest.approx(0.3), "other evidence was not seen"


def test_a_few_outcomes_in_one_text_move_all_its_chances():
    odds = Odds(EXPECTED)
    text, other = TextOdds(odds), TextOdds(odds)
    before = [text.chance(e) for e in (1, 4, 10)]
    for _ in range(8):
        text.learn(4, False)
    after = [text.chance(e) for e in (1, 4, 10)]
    assert after[1] < 0.5 * before[1]
    assert all(a < b for a, b in zip(after, before, strict=True))
    assert other.chance(10) == pytest.approx(before[2]), "another text starts unprejudiced"


def test_a_text_that_changes_its_habits_is_followed():
    text = TextOdds(Odds(EXPECTED))
    for _ in range(60):
        text.learn(4, False)
    for _ in range(40):
        text.learn(4, True)
    assert text.chance(4) > 0.5


def test_no_chance_is_certain():
    text = TextOdds(Odds(EXPECTED))
    for _ in range(5000):
        text.learn(10, True)
    assert text.chance(10) < 1
    for _ in range(5000):
        text.learn(10, False)
    assert text.chance(10) > 0
