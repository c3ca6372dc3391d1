"""The most frequent tokens of answers, the ends of answers among them."""

from foredraft.training.vocabulary import draft_vocabulary

TEXTS = [([9, 9, 9, 1, 2, 2, 3], 3), ([9, 3, 3, 5], 1)]


def test_the_most_frequent_of_answers_in_ascending_order() -> None:
    ids, coverage = draft_vocabulary(TEXTS, 3, 16, always=())
    assert ids.tolist() == [1, 2, 3]  # 1 before 5: as frequent, and lower
    assert coverage == 6 / 7


def test_ends_are_in_whatever_their_number() -> None:
    ids, coverage = draft_vocabulary(TEXTS, 3, 16, always={15})
    assert ids.tolist() == [2, 3, 15]
    assert coverage == 5 / 7


def test_the_lowest_ids_fill_up() -> None:
    ids, coverage = draft_vocabulary(TEXTS, 8, 16, always={15})
    assert ids.tolist() == [0, 1, 2, 3, 4, 5, 6, 15]
    assert coverage == 1
    assert len(draft_vocabulary(TEXTS, 99, 16, always={15})[0]) == 16
