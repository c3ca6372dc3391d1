from dataclasses import replace

import pytest

from foredraft.planner.advice import explain, judge
from foredraft.planner.plan import Choice, Kind, Verdict, VerifyCurve

FLAT = VerifyCurve((1, 2, 4), (1.0, 1.05, 1.1))
STEEP = VerifyCurve((1, 2, 4), (1.0, 1.6, 2.4))
MODEL = Choice("model", 3, 0.8, 0.1, 1.6, 1.4, 1.8, 0.05, draft="small")
LOOKUP = Choice("ngram", 2, 0.4, 0.0, 1.02, 0.97, 1.06, 0.07)
KINDS = {"copy": Kind(1, 2.5, (0.9,)), "free": Kind(1, 1.0, (0.2,))}


@pytest.mark.parametrize(
    ("low", "high", "measured", "verdict"),
    [
        (1.3, 1.5, None, Verdict.USE),
        (1.2, 1.5, None, Verdict.USE),
        (1.0, 1.19, None, Verdict.DO_NOT),
        (1.1, 1.3, None, Verdict.MEASURE_LONGER),
        (1.3, 1.5, 1.35, Verdict.USE),
        (1.3, 1.5, 1.1, Verdict.MEASURE_LONGER),
        (1.0, 1.1, 1.3, Verdict.MEASURE_LONGER),
        (1.0, 1.1, 1.0, Verdict.DO_NOT),
    ],
)
def test_the_whole_interval_decides(
    low: float, high: float, measured: float | None, verdict: Verdict
) -> None:
    best = replace(MODEL, low=low, high=high, measured_speedup=measured)
    assert judge(best, 1.2) is verdict


def test_nothing_drafted_is_do_not() -> None:
    assert judge(None, 1.2) is Verdict.DO_NOT
    assert "no drafter proposed" in explain(Verdict.DO_NOT, None, [], FLAT, {}, 1.2)


def test_use_says_with_what_and_what_to_expect() -> None:
    said = explain(Verdict.USE, MODEL, [MODEL, LOOKUP], FLAT, KINDS, 1.2)
    assert said.startswith("Use the draft model small with 3 tokens a round")
    assert "1.60x of plain (1.40x to 1.80x)" in said
    assert "80% of its judged tokens are accepted" in said
    assert "a drafted token costs 0.10 and a pass over 4 rows costs 1.10 plain steps" in said
    assert "best on copy (2.50x) and worst on free (1.00x)" in said


def test_do_not_gives_the_reasons_that_hold() -> None:
    heavy = replace(MODEL, cost_ratio=0.44, acceptance_rate=0.3, predicted_speedup=0.6)
    said = explain(Verdict.DO_NOT, LOOKUP, [LOOKUP, heavy], STEEP, {}, 1.2)
    assert "under the 1.2x asked for" in said
    assert "a pass over 4 rows costs 2.4 plain steps" in said
    assert "The draft small is heavy: a token of it costs 0.44 plain steps." in said
    assert "seldom agrees: 30%" in said
    assert "Little in these answers repeats" in said


def test_do_not_gives_no_reason_that_does_not_hold() -> None:
    good = replace(LOOKUP, predicted_speedup=1.15)
    said = explain(Verdict.DO_NOT, good, [good, MODEL], FLAT, {}, 1.2)
    assert not any(word in said for word in ("expensive", "heavy", "seldom", "repeats"))


def test_measure_longer_says_how() -> None:
    said = explain(Verdict.MEASURE_LONGER, MODEL, [MODEL], FLAT, {}, 1.5)
    assert "whether it is worth 1.5x; give more --prompts, --tokens or --budget" in said
