"""What a plan says of other temperatures is what those temperatures would have drawn there."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams, law
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.replay import Pass
from foredraft.engine.replay import passes as copied
from foredraft.engine.request import Request
from foredraft.planner.drafting import in_a_row, passes
from foredraft.planner.plan import Plan
from foredraft.planner.planning import plan
from foredraft.planner.survey import Scope, Setting, Survey
from foredraft.planner.temperatures import HeardSequence
from foredraft.planner.what_if_wording import along, temperatures_table
from foredraft.targets.base import Target
from tests.planner.test_survey import BESIDE, SAMPLES, surveyed

WARM = (0.0, 0.6, 1.0)


def drawn(model: Target, text: list[int], temperature: float) -> int:
    """The next token that plain decoding would draw, with the seed of the surveys."""
    params = SamplingParams(temperature=temperature)
    (token,) = Generator(model).stream(text, Request(params=params, max_new_tokens=1, seed=5))
    return token.id


def planned(big: Target, found: Survey, temperature: float) -> Plan:
    return plan(big, found, Scope(SAMPLES, SamplingParams(temperature=temperature)), 1.2)


@pytest.fixture(scope="module")
def cool() -> Any:
    return surveyed(0.0, temperatures=WARM)


def test_draws_are_those_of_decoding_at_that_temperature(cool: Any) -> None:
    big, small, found = cool
    for number, answer in enumerate(found.answers):
        texts = [answer.prompt + answer.output[:place] for place in range(len(answer.output))]
        for temperature in WARM:
            judges = [drawn(big, text, temperature) for text in texts]
            assert answer.drawn[temperature] == judges
            drafts = [drawn(small, text, temperature) for text in texts]
            right = [draft == judge for draft, judge in zip(drafts, judges, strict=True)]
            for length in (1, 4):
                made = found.at[temperature][Setting("model", "small", length)][number]
                assert made.passes == passes(in_a_row(right), length, answer.limit)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_at_the_plan_s_own_temperature_the_numbers_are_the_plan_s(temperature: float) -> None:
    _, _, found = surveyed(temperature, temperatures=(temperature,))
    for setting, made in found.at[temperature].items():
        assert [one.passes for one in made] == [one.passes for one in found.written[setting]]


def test_a_lookup_is_judged_by_what_would_have_been_drawn() -> None:
    text, told = [1, 2, 3, 4, 1, 2], [3, 4, 1, 2]
    assert copied(NgramDrafter(), 3, text, told, 9) == [Pass(3, 3)]
    # The second token would have been another: the text goes on as told, the draft does not.
    assert copied(NgramDrafter(), 3, text, told, 9, [3, 7, 1, 2]) == [Pass(3, 1), Pass(3, 2)]


def test_a_draft_agrees_as_often_as_shared_noise_lets_it() -> None:
    """P(agree) = Σ_i 1 / Σ_j max(p_j / p_i, q_j / q_i) for two races on the same clocks."""
    rng = np.random.default_rng(0)
    logits, other = rng.normal(size=(2, 12)) * 2
    nothing = np.array([], dtype=np.int64)
    for temperature in (0.5, 1.0):
        params = SamplingParams(temperature=temperature)
        p, q = law(logits, params, nothing, nothing), law(other, params, nothing, nothing)
        expected = sum(1 / np.maximum(p / p[i], q / q[i]).sum() for i in range(12))
        assert expected <= np.minimum(p, q).sum()
        agreed = 0
        for seed in range(2000):
            sequence = HeardSequence([1, 2], SamplingParams(), Noise(seed, True))
            sequence.law(logits)
            (target,) = sequence.draw([temperature])
            sequence.law(other)
            (draft,) = sequence.draw([temperature])
            agreed += target == draft
        assert agreed / 2000 == pytest.approx(expected, abs=0.045)  # four standard deviations


def test_a_plan_keeps_the_best_of_each_drafter(cool: Any) -> None:
    big, _, found = cool
    made = planned(big, found, 0.0)
    assert [one.temperature for one in made.temperatures] == list(WARM)
    for one in made.temperatures:
        assert sorted(row.drafter for row in one.rows) == sorted(
            [*BESIDE, "model", "ngram", "suffix"]
        )
        speeds = [row.predicted_speedup for row in one.rows]
        assert speeds == sorted(speeds, reverse=True)
    for row in made.temperatures[0].rows:
        (best,) = [r for r in made.rows if (r.drafter, r.draft_len) == (row.drafter, row.draft_len)]
        assert row.acceptance_rate == best.acceptance_rate
    assert Plan.from_dict(asdict(made) | {"version": 1}) == made


def test_the_table_names_what_was_planned(cool: Any) -> None:
    big, _, found = cool
    made = planned(big, found, 0.0)
    names, rows = temperatures_table(made)
    assert names[0] == "temperature"
    heads = {f"{name} {name}" for name in BESIDE}
    assert set(names[1:]) == {"ngram", "suffix", "model small"} | heads
    assert [row[0] for row in rows] == ["0, as planned", "0.6", "1"]
    assert all("α " in cell for row in rows for cell in row[1:])
    assert "written at temperature 0" in along(made)


def test_nothing_is_drawn_unless_asked_for() -> None:
    _, _, found = surveyed(0.0)
    assert found.at == {}
    assert all(answer.drawn == {} for answer in found.answers)
