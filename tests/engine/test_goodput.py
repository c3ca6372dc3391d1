"""Which tokens of several texts share a pass."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foredraft.engine.goodput import shares

CURVES = {
    "flat": lambda n: 1 + 0.02 * n,
    "steep": lambda n: 1 + 0.7 * n,
    "jagged": lambda n: (1, 1.43, 1.72, 1.45, 1.88, 2.12, 2.36, 2.6, 2.75, 2.9, 3.0)[n],
}
chances = st.lists(
    st.lists(st.floats(0.01, 1), max_size=3).map(lambda of: sorted(of, reverse=True)), max_size=3
)


def gain(taken, of, cost, rate):
    tokens = sum(sum(one[:count]) for one, count in zip(of, taken, strict=True))
    return tokens - rate * (cost(sum(taken)) - cost(0))


@pytest.mark.parametrize("curve", CURVES)
@given(chances, st.floats(0.1, 4))
def test_no_other_choice_gains_more(curve, of, rate):
    cost = CURVES[curve]
    best = max(
        gain(taken, of, cost, rate) for taken in product(*(range(len(one) + 1) for one in of))
    )
    assert gain(shares(of, cost, rate), of, cost, rate) == pytest.approx(best)


def test_the_surer_text_gets_the_rows():
    assert shares([[0.9, 0.8, 0.7], [0.3, 0.1]], CURVES["steep"], 1.0) == [3, 0]


def test_nobody_drafts_where_nothing_pays():
    assert shares([[0.5], [0.6], []], CURVES["steep"], 1.0) == [0, 0, 0]
    assert shares([], CURVES["steep"], 1.0) == []


def test_a_fourth_row_cheaper_than_the_third_is_found():
    assert shares([[0.4, 0.3, 0.2]], CURVES["jagged"], 1.0) == [3]
