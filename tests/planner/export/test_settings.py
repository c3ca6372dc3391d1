"""What every exporter owes: a heading, honesty about a plan that loses, warnings in the text."""

from dataclasses import replace

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.planner.export import ENGINES, export
from tests.planner.plans import CHOICES, LOSING, UNSURE, plan

SPECULATION = (
    *("--spec-", "speculative", "draftModel", "\nDRAFT", "assistant", "prompt_lookup"),
    *("disable_overlap_scheduler", "org/small"),
)


def flat(text: str) -> str:
    """The words of a text, its comment marks and line breaks gone."""
    return " ".join(word for word in text.split() if word not in ("#", ">"))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_plan_that_says_do_not_becomes_plain_settings_that_say_why(engine: str) -> None:
    settings = export(LOSING, engine)
    assert "Plain settings, without speculation. The draft is too heavy: c 0.44." in flat(
        settings.text
    )
    assert "big" in settings.text
    assert not any(word in settings.text for word in SPECULATION)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_plan_without_a_choice_becomes_plain_settings(engine: str) -> None:
    text = export(replace(LOSING, best=None), engine).text
    assert not any(word in text for word in SPECULATION)


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "ollama"])
def test_a_plan_that_is_not_sure_is_exported_with_a_warning(engine: str) -> None:
    settings = export(UNSURE, engine)
    assert any("not sure that this pays (1.30x to 1.70x" in said for said in settings.warnings)
    assert "small" in settings.text


@pytest.mark.parametrize("drafter", CHOICES)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_text_says_what_it_was_written_for_and_carries_the_warnings(
    engine: str, drafter: str
) -> None:
    settings = export(plan(drafter, temperature=0.7), engine)
    assert settings.engine == engine
    assert settings.filename
    words = flat(settings.text)
    assert f"By foredraft, for {settings.versions}." in words
    assert all(f"Note: {flat(warning)}" in words for warning in settings.warnings)
    assert max(map(len, settings.text.split("\n\n")[0].splitlines())) <= 100


def test_a_measured_speed_up_takes_the_place_of_the_predicted() -> None:
    assert "predicted 1.50x plain decoding (1.30x to 1.70x)" in flat(export(plan(), "vllm").text)
    measured = plan(best={"measured_speedup": 1.44})
    assert "measured 1.44x plain decoding" in flat(export(measured, "vllm").text)


@pytest.mark.parametrize("engine", ["llama.cpp", "lmstudio", "sglang", "trt-llm"])
def test_engines_that_draft_greedily_say_so_where_the_plan_samples(engine: str) -> None:
    def warns(**changes: float) -> bool:
        return any("likeliest" in said for said in export(plan(**changes), engine).warnings)

    assert warns(temperature=0.7)
    assert not warns(temperature=0.0)


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ForedraftError, match=r"'tgi'; the engines are llama\.cpp, lmstudio"):
        export(plan(), "tgi")


def test_a_draft_model_without_a_name_is_refused() -> None:
    with pytest.raises(ForedraftError, match="does not name"):
        export(plan(best={"draft": None}), "vllm")


@pytest.mark.parametrize(("engine", "kind"), [("vllm", "medusa"), ("llama.cpp", "eagle3")])
def test_a_trained_head_that_an_engine_does_not_run_is_refused(engine: str, kind: str) -> None:
    with pytest.raises(ForedraftError, match=rf"trained head \({kind}\), which this engine"):
        export(plan(best={"drafter": kind}), engine)
