import math

import pytest
from scipy import stats

from foredraft.rivals.ratios import Speedup, speedup, t_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 7, 30, 1000])
def test_the_quantile_is_students(freedom: int) -> None:
    assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.002)


def test_the_geometric_mean_over_prompts_and_its_interval() -> None:
    ratios = {"a": [2.0, 2.0], "b": [1.0, 4.0], "c": [1.0, 1.0]}
    found = speedup(ratios)
    assert found.value == pytest.approx(4 ** (1 / 3))
    assert found.n == 3
    logs = [math.log(2), math.log(2), 0.0]
    expected = stats.t.interval(0.95, 2, loc=stats.tmean(logs), scale=stats.sem(logs))
    assert (math.log(found.low), math.log(found.high)) == pytest.approx(expected, abs=1e-6)


def test_one_prompt_is_as_sure_as_its_repeats() -> None:
    found = speedup({"a": [1.0, 2.0]})
    assert (found.value, found.n) == (pytest.approx(math.sqrt(2)), 2)
    assert found.low < 1 < found.high


def test_one_ratio_has_no_interval() -> None:
    assert speedup({"a": [1.5]}) == Speedup(pytest.approx(1.5), None, None, 1)
    assert speedup({"a": []}) is None
    assert speedup({}) is None
