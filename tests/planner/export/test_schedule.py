from itertools import pairwise

from foredraft.planner.export.schedule import by_batch_size
from foredraft.planner.plan import Choice, VerifyCurve

CHOICE = Choice("model", 3, 0.8, 0.05, 1.5, 1.3, 1.7, 0.03, draft="small")
FLAT = VerifyCurve((1, 64), (1.0, 1.1))
DEAR = VerifyCurve((1, 64), (1.0, 64.0))
BENT = VerifyCurve((1, 8, 64), (1.0, 1.0, 20.0))


def test_where_rows_are_nearly_free_every_batch_keeps_the_length() -> None:
    assert by_batch_size(CHOICE, FLAT) == [[1, 16, 3]]


def test_where_every_row_costs_a_step_only_one_request_drafts() -> None:
    assert by_batch_size(CHOICE, DEAR) == [[1, 1, 3], [2, 16, 0]]


def test_the_length_falls_where_the_curve_bends() -> None:
    schedule = by_batch_size(CHOICE, BENT)
    lengths = [length for _, _, length in schedule]
    assert schedule[0][0] == 1
    assert lengths[0] == 3 > lengths[-1]
    assert lengths == sorted(lengths, reverse=True)
    assert all(after[0] == before[1] + 1 for before, after in pairwise(schedule))


def test_nothing_is_said_beyond_the_measured_rows() -> None:
    assert by_batch_size(CHOICE, VerifyCurve((1, 2, 3), (1.0, 1.1, 1.2))) == []
    assert by_batch_size(CHOICE, VerifyCurve((), ())) == []
