import numpy as np
import pytest

from foredraft.engine.replay import Pass
from foredraft.planner.answers import Answer
from foredraft.planner.predict import Costs, Curve, Written, predict


def answer(tokens: int) -> Answer:
    return Answer("kind", [1], [2] * tokens, tokens, 1.1, 1.0, {}, 1.0, 1.2)


def test_the_curve_is_interpolated_and_then_proportional() -> None:
    curve = Curve({2: [1.2, 1.1, 1.3], 4: [2.0]}, 8)
    assert curve.points == pytest.approx([1, 1.2, 1.6, 2.0, 2.5, 3.0, 3.5, 4.0])
    assert curve.draws.shape == (400, 8)
    assert curve.draws[:, 1].min() >= 1.1
    assert curve.draws[:, 1].std() > 0


def test_a_speedup_is_plain_seconds_over_speculative_ones() -> None:
    curve = Curve({2: [1.5]}, 4)
    made = Written(answer(4), [Pass(1, 1), Pass(1, 1)], Costs(1.0, 0.25, 0.05))
    seconds = 1.0 + 2 * (1.5 + 0.25 + 0.05) + 4 * 0.1  # opened once; a token costs 0.1 to choose
    speed, low, high = predict([made], curve)
    assert speed == pytest.approx(4 * 1.1 / seconds)
    assert low <= speed <= high


def test_no_draft_is_plain_speed() -> None:
    made = Written(answer(3), [Pass(0, 0)] * 3, Costs())
    assert predict([made], Curve({2: [1.5]}, 4)) == pytest.approx((1, 1, 1))


def test_the_last_round_emits_what_the_answer_still_had() -> None:
    curve = Curve({2: [1.0], 4: [1.0]}, 4)
    made = Written(answer(3), [Pass(3, 3)], Costs())
    assert predict([made], curve)[0] == pytest.approx(3 * 1.1 / (1 + 3 * 0.1))


def test_the_mean_is_geometric_and_the_interval_covers_varied_rounds() -> None:
    curve = Curve({2: [1.0]}, 4)
    rng = np.random.default_rng(1)
    mixed = [Pass(1, int(kept)) for kept in rng.integers(0, 2, 40)]
    tokens = sum(done.kept + 1 for done in mixed)
    slow = Written(answer(tokens), mixed, Costs())
    fast = Written(answer(80), [Pass(1, 1)] * 40, Costs())
    both, low, high = predict([slow, fast], curve)
    assert both == pytest.approx((predict([slow], curve)[0] * predict([fast], curve)[0]) ** 0.5)
    assert low < both < high
