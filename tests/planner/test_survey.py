"""What is counted on a plain answer is what the engine then does, pass by pass."""

from typing import Any

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.drafters.base import CostlyDrafter
from foredraft.drafters.head import HeadDrafter
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.replay import Pass
from foredraft.engine.request import Request
from foredraft.planner.drafting import in_a_row, passes
from foredraft.planner.predict import acceptance, by_position
from foredraft.planner.survey import Scope, Setting, Survey, survey
from foredraft.rivals.prompts import Sample
from tests.heads.tiny_heads import HEADS
from tests.tiny import target

SAMPLES = [
    Sample("a", "copy", [{"role": "user", "content": "to be or not to be or not to"}]),
    Sample("b", "free", [{"role": "user", "content": "a tide comes in"}]),
]
TOKENS = 24
BESIDE = ("recurrent", "independent")
"""Heads that draft for the target."""


def surveyed(temperature: float, kind: str = "llama", **scope: Any) -> tuple[Any, Any, Survey]:
    big = target(kind)
    draft = target("llama", seed=0, num_hidden_layers=1)
    params = SamplingParams(temperature=temperature)
    asked = Scope(SAMPLES, params, TOKENS, **{"budget_s": 60.0, "seed": 5} | scope)
    drafts: dict[str, CostlyDrafter] = {"small": ModelDrafter(draft, big.vocab_size)}
    if kind == "llama":
        drafts |= {name: HeadDrafter(HEADS[name](big), big) for name in BESIDE}
    return big, draft, survey(big, drafts, asked, lambda what, done, total: None)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_counted_passes_are_those_of_the_engine(temperature: float) -> None:
    big, draft, found = surveyed(temperature)
    compared = 0
    for setting, made in found.written.items():
        for one in made if setting.draft_len in (1, 3, 8) else ():
            makers = {
                "ngram": NgramDrafter,
                "suffix": SuffixDrafter,
                "model": lambda: ModelDrafter(draft, big.vocab_size),
                **{name: lambda name=name: HeadDrafter(HEADS[name](big), big) for name in BESIDE},
            }
            request = Request(
                params=SamplingParams(temperature=temperature),
                max_new_tokens=one.answer.limit,
                seed=5,
                draft_len=setting.draft_len,
            )
            generator = Generator(big, makers[setting.drafter]())
            rounds: list[Pass] = []
            stream = generator.stream(
                one.answer.prompt,
                request,
                watch=lambda done, rounds=rounds: rounds.append(
                    Pass(len(done.draft), len(done.verdict.path))
                ),
            )
            output = [token.id for token in stream]
            assert output == one.answer.output
            assert rounds[:-1] == list(one.passes)[:-1]
            assert rounds[-1].drafted == one.passes[-1].drafted
            compared += len(rounds)
    assert compared > 200


def test_every_setting_is_surveyed_and_rows_are_priced() -> None:
    _, _, found = surveyed(0.0)
    lengths = {s.draft_len for s in found.written if s.drafter == "model"}
    deep = {s.draft_len for s in found.written if s.drafter == "independent"}
    assert deep == {1, 2, 3}, "no deeper than the head reaches"
    assert lengths == set(range(1, 9))
    assert Setting("suffix", None, 16) in found.written
    assert set(found.curve.measured) >= {1, 2, 3, 4, 5}
    assert min(found.curve.measured.values()) > 0


def test_a_target_that_cannot_take_rows_back_is_priced_apart() -> None:
    _, _, found = surveyed(0.0, kind="qwen3_next")
    assert all(not answer.ratios for answer in found.answers)
    assert set(found.curve.measured) >= {2, 4, 8}


def test_time_bounds_the_survey_and_is_shared() -> None:
    _, _, found = surveyed(0.0, budget_s=1e-6)
    assert len(found.answers) == 1
    assert any("Time was up after 1 of 2 prompts" in note for note in found.notes)


def test_no_prompt_that_fits_is_a_sentence() -> None:
    long = [Sample("a", "long", [{"role": "user", "content": "a" * 600}])]
    with pytest.raises(ForedraftError, match="No prompt fits the 512 tokens"):
        survey(target(), {}, Scope(long, SamplingParams()), lambda what, done, total: None)


def test_passes_follow_what_was_drafted_rightly() -> None:
    right = in_a_row([True, True, False, True, True])
    assert right == [2, 1, 0, 2, 1]
    assert passes(right, 2, 5) == [Pass(2, 2), Pass(1, 1)]
    assert passes(right, 1, 9) == [Pass(1, 1), Pass(1, 0), Pass(1, 1)]
    assert passes([0, 0], 3, 2) == [Pass(1, 0), Pass(0, 0)]


def test_acceptance_counts_what_was_judged() -> None:
    made = [Pass(3, 3), Pass(3, 1), Pass(0, 0)]
    assert acceptance(made) == (4, 5)
    assert by_position(made) == [1.0, 0.5, 1.0]
