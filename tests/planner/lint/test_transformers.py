import pytest

from foredraft.core.errors import ForedraftError
from foredraft.planner.lint import Severity, lint

ERROR, IGNORED, HARMFUL, _ = Severity
GOOD = """
    from transformers import AutoModelForCausalLM
    helper.generation_config.num_assistant_tokens = 4
    model.generate(**inputs, assistant_model=helper, do_sample=True)
    model.generate(**inputs, prompt_lookup_num_tokens=4, max_matching_ngram_size=3)
"""


def found(text: str) -> list[tuple[Severity, str]]:
    engines, findings = lint(text)
    assert list(engines) == ["transformers"]
    return [(finding.severity, finding.setting) for finding in findings]


def test_good_code_is_left_alone_indented_or_not() -> None:
    assert found(GOOD) == []


@pytest.mark.parametrize(
    ("arguments", "severity", "setting"),
    [
        ("num_assistant_tokens=5", IGNORED, "num_assistant_tokens=5"),
        ("assistant_confidence_threshold=0", IGNORED, "assistant_confidence_threshold=0"),
        ("max_matching_ngram_size=3", IGNORED, "max_matching_ngram_size=3"),
        ("num_beams=4", IGNORED, "num_beams=4"),
        ("prompt_lookup_num_tokens=4", IGNORED, "assistant_model=helper"),
        ("num_return_sequences=2", ERROR, "num_return_sequences=2"),
        ("use_cache=False", ERROR, "use_cache=False"),
        ("assistant_ensemble_weight=0.5", HARMFUL, "assistant_ensemble_weight=0.5"),
    ],
)
def test_one_bad_argument_is_one_finding(arguments: str, severity: Severity, setting: str) -> None:
    call = f"model.generate(**inputs, assistant_model=helper, {arguments})"
    assert found(call) == [(severity, setting)]


def test_a_generation_config_is_read_as_the_call_is() -> None:
    text = "from transformers import GenerationConfig\nGenerationConfig(num_assistant_tokens=5)"
    assert found(text) == [(IGNORED, "num_assistant_tokens=5")]


def test_the_targets_generation_config_is_the_wrong_place() -> None:
    text = (
        "model.generation_config.num_assistant_tokens = 5\n"
        "model.generate(**inputs, assistant_model=helper)"
    )
    assert found(text) == [(IGNORED, "model.generation_config.num_assistant_tokens = 5")]
    assert "helper.generation_config" in lint(text)[1][0].mend


def test_a_gemma_4_assistant_must_not_sample() -> None:
    load = 'helper = load("google/gemma-4-31b-it-assistant")\n'
    call = "model.generate(**inputs, assistant_model=helper, do_sample={})"
    assert found(load + call.format(True)) == [(HARMFUL, "do_sample=True")]
    assert found(load + call.format(False)) == []


def test_batches_and_ensembles_are_refused() -> None:
    batch = "from transformers import x\nmodel.generate_batch(prompts, assistant_model=helper)"
    assert found(batch) == [(ERROR, "assistant_model=helper")]
    both = "m.generate(**i, prompt_lookup_num_tokens=3, assistant_ensemble_weight=0.5)"
    assert (ERROR, "assistant_ensemble_weight=0.5") in found(both)


def test_half_a_snippet_is_refused_with_its_line() -> None:
    with pytest.raises(ForedraftError, match=r"line 1: .*; give a whole snippet"):
        lint("model.generate(**inputs, assistant_model=")
