import json
from dataclasses import asdict, replace

import pytest

from foredraft.core.speedup import best_gamma
from foredraft.planner.plan import Choice, Plan, VerifyCurve
from foredraft.planner.what_if import COSTS, MOST, RATES, SEQUENCES, WhatIf, what_if
from foredraft.planner.what_if_wording import (
    draft_models_table,
    loads_table,
    stops_paying,
    supposed,
)
from tests.planner.test_plan import PLAN

HALVES = VerifyCurve((1, 2, 5), (1.0, 1.5, 3.0))  # each row after the first costs half a step
TENTHS = VerifyCurve((1, 3, 5), (1.0, 1.2, 1.4))
FREE = VerifyCurve((1, 9), (1.0, 1.0))


def choice(drafter: str, length: int, alpha: float, cost: float, speed: float, **more) -> Choice:
    return Choice(drafter, length, alpha, cost, speed, speed - 0.1, speed + 0.1, 0.05, **more)


def planned(curve: VerifyCurve, *rows: Choice) -> Plan:
    return replace(PLAN, verify_curve=curve, rows=rows, best=rows[0] if rows else None)


MODEL = choice("model", 1, 0.8, 0.2, 1.8 / 1.7, draft="small")
# Half of the rounds draft two tokens, of which 0.75 are kept on average.
LOOKUP = choice("ngram", 2, 0.5, 0.0, (0.5 * 1.75 + 0.5) / (0.5 * 1.2 + 0.5), drafting_share=0.5)


def speedups(found: WhatIf) -> list[float]:
    return [load.speedup for load in found.concurrency]


def test_a_draft_model_among_more_sequences() -> None:
    found = what_if(planned(HALVES, MODEL))
    # Tokens 1.8; plain v(B); drafting 0.2 v(B), verifying v(2 B).
    priced = [1.8 * v / (0.2 * v + w) for v, w in [(1, 1.5), (1.5, 2.5), (2.5, 4.5), (4.5, 8.5)]]
    assert speedups(found)[:4] == pytest.approx(priced)
    assert [load.sequences for load in found.concurrency] == list(SEQUENCES)
    assert [load.extrapolated for load in found.concurrency] == [False, False, True, True, True]


def test_where_it_no_longer_pays_plain_is_best() -> None:
    found = what_if(planned(HALVES, MODEL))
    assert found.stops_paying is not None
    assert (found.stops_paying.sequences, found.stops_paying.extrapolated) == (2, False)
    alone, two = found.concurrency[:2]
    assert (alone.best_draft_len, alone.best_speedup) == (1, alone.speedup)
    assert (two.best_draft_len, two.best_speedup) == (0, 1.0)
    assert two.speedup < 1


def test_a_lookup_drafts_in_some_rounds_only() -> None:
    found = what_if(planned(TENTHS, LOOKUP))
    # Two sequences: none, one or both draft; v(2) = 1.1, v(4) = 1.3, v(6) = 1.5.
    together = 1.375 * 1.1 / (0.25 * 1.1 + 0.5 * 1.3 + 0.25 * 1.5)
    assert speedups(found)[:2] == pytest.approx([1.25, together])


def test_the_drafter_s_other_lengths_are_looked_at_and_no_other_drafter_s() -> None:
    longer = choice("model", 3, 0.8, 0.0, 1.02, draft="small")
    other = choice("model", 2, 0.9, 0.0, 9.0, draft="big")
    never = choice("ngram", 1, 0.0, 0.0, 1.0)
    found = what_if(planned(FREE, MODEL, longer, other, never))
    loads = found.concurrency
    assert {load.best_draft_len for load in loads} == {1}
    assert all(load.speedup == pytest.approx(MODEL.predicted_speedup) for load in loads)
    dear = replace(MODEL, cost_ratio=0.9)
    assert (
        what_if(planned(FREE, dear, replace(longer, predicted_speedup=2.0), other))
        .concurrency[4]
        .best_draft_len
        == 3
    )


def test_free_verification_never_stops_paying() -> None:
    found = what_if(planned(FREE, MODEL))
    assert found.stops_paying is None
    assert stops_paying(found).endswith(f"up to {MOST} sequences at once.")


def test_nothing_drafted_leaves_only_the_draft_models() -> None:
    found = what_if(planned(HALVES))
    assert (found.concurrency, found.stops_paying) == ((), None)
    assert stops_paying(found).startswith("Nothing was drafted")
    assert len(found.draft_models) == len(RATES) * len(COSTS)
    assert supposed(planned(HALVES)) == "What if there were a draft model?"


def test_draft_models_follow_the_formula_on_the_measured_curve() -> None:
    found = what_if(planned(HALVES, LOOKUP, MODEL)).draft_models
    assert sorted({one.acceptance_rate for one in found}) == list(RATES)
    assert list(dict.fromkeys(one.cost_ratio for one in found)) == [0.2, 0.1, 0.05, 0.0]
    curve = [1.0, 1.5, 2.0, 2.5, 3.0]
    for one in found:
        expected = best_gamma(one.acceptance_rate, one.cost_ratio, curve, limit=4)
        assert (one.draft_len, one.speedup) == pytest.approx(expected)
    measured = next(one for one in found if (one.acceptance_rate, one.cost_ratio) == (0.8, 0.2))
    assert measured.speedup == pytest.approx(1.8 / 1.7)


def test_the_measured_rate_and_cost_are_in_the_table_and_named() -> None:
    plan = planned(HALVES, replace(MODEL, acceptance_rate=0.77))
    names, rows = draft_models_table(plan, what_if(plan))
    assert names == ["α", "c 0.2, measured", "c 0.1", "c 0.05", "free drafts"]
    assert [row[0] for row in rows] == [
        *("0.30", "0.40", "0.50", "0.60", "0.70", "0.77, measured", "0.80", "0.90", "0.95"),
    ]
    assert rows[0][1] == "plain"
    assert rows[-1][-1] == "1.51x, γ 4"  # (1 − 0.95⁵) / 0.05 over v(5) = 3
    assert supposed(plan) == "What if small agreed more often, or cost less?"


def test_a_free_draft_has_one_column() -> None:
    plan = planned(HALVES, replace(MODEL, cost_ratio=0.0))
    assert draft_models_table(plan, what_if(plan))[0] == ["α", "free drafts, measured"]


def test_loads_in_words() -> None:
    plan = planned(HALVES, MODEL)
    names, rows = loads_table(plan, what_if(plan))
    assert names == ["sequences", "γ 1, as planned", "best γ", "with it"]
    assert rows[:3] == [
        ["1", "1.06x", "1", "1.06x"],
        ["2", "0.96x", "plain", "1.00x"],
        ["4", "0.90x ~", "plain", "1.00x"],
    ]
    said = stops_paying(what_if(plan))
    assert said == "From 2 sequences decoded together on, speculation does not pay."


def test_that_the_end_is_extrapolated_is_said() -> None:
    plan = planned(VerifyCurve((1, 2), (1.0, 1.5)), MODEL)
    assert "judging by passes over more rows than were measured" in stops_paying(what_if(plan))
    slow = planned(HALVES, replace(MODEL, predicted_speedup=0.9))
    assert "even for one sequence" in stops_paying(what_if(slow))


def test_json() -> None:
    saved = json.loads(json.dumps(asdict(what_if(planned(HALVES, MODEL)))))
    assert set(saved) == {"concurrency", "stops_paying", "draft_models"}
    load = {"sequences", "speedup", "best_draft_len", "best_speedup", "extrapolated"}
    assert set(saved["concurrency"][0]) == set(saved["stops_paying"]) == load
    assert set(saved["draft_models"][0]) == {
        *("acceptance_rate", "cost_ratio", "draft_len", "speedup")
    }
