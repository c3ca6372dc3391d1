import json
from typing import Any

import pytest

from foredraft.planner.lint import Severity, lint

ERROR, IGNORED, HARMFUL, HINT = Severity
DRAFT = {
    "method": "draft_model",
    "model": "org/small",
    "num_speculative_tokens": 4,
    "draft_sample_method": "greedy",
}
NGRAM = {"method": "ngram", "num_speculative_tokens": 4}


def serve(config: dict[str, Any], more: str = "") -> str:
    return f"vllm serve org/big --speculative-config '{json.dumps(config)}' {more}"


def found(text: str) -> list[tuple[Severity, str]]:
    engines, findings = lint(text)
    assert list(engines) == ["vllm"]
    return [(finding.severity, finding.setting) for finding in findings]


@pytest.mark.parametrize(
    ("config", "severity", "setting"),
    [
        (DRAFT | {"method": "medusa"}, ERROR, '"method": "medusa"'),
        (DRAFT | {"method": "mlp_speculator"}, ERROR, '"method": "mlp_speculator"'),
        (DRAFT | {"method": "magic"}, ERROR, '"method": "magic"'),
        ({"method": "ngram", "prompt_lookup_max": 4}, ERROR, '"method": "ngram"'),
        (
            {"method": "draft_model", "num_speculative_tokens": 4, "draft_sample_method": "greedy"},
            ERROR,
            '"method": "draft_model"',
        ),
        (DRAFT | {"tensor_parallel_size": 2}, ERROR, '"tensor_parallel_size": 2'),
        (DRAFT | {"draft_tensor_parallel_size": 2}, ERROR, '"draft_tensor_parallel_size": 2'),
        (
            NGRAM | {"prompt_lookup_min": 5, "prompt_lookup_max": 2},
            ERROR,
            '"prompt_lookup_min": 5',
        ),
        (
            NGRAM | {"num_speculative_tokens_per_batch_size": [[2, 8, 4]]},
            ERROR,
            '"num_speculative_tokens_per_batch_size": [[2, 8, 4]]',
        ),
        (
            NGRAM | {"num_speculative_tokens_per_batch_size": [[1, 8, 5]]},
            ERROR,
            '"num_speculative_tokens_per_batch_size": [[1, 8, 5]]',
        ),
        ({"method": "suffix"}, HARMFUL, '"method": "suffix"'),
        (DRAFT | {"use_heterogeneous_vocab": True}, HARMFUL, '"use_heterogeneous_vocab": true'),
        (DRAFT | {"parallel_drafting": True}, HARMFUL, '"parallel_drafting": true'),
        *(
            (
                NGRAM | {"rejection_sample_method": way},
                HARMFUL,
                f'"rejection_sample_method": "{way}"',
            )
            for way in ("fly", "synthetic", "typical_acceptance_sampler")
        ),
        (DRAFT | {"method": "qwen3_next_mtp"}, HINT, '"method": "qwen3_next_mtp"'),
        ({"model": "org/small", "num_speculative_tokens": 4}, HINT, '"model": "org/small"'),
    ],
)
def test_one_bad_key_is_one_finding(
    config: dict[str, Any], severity: Severity, setting: str
) -> None:
    assert found(serve(config)) == [(severity, setting)]


@pytest.mark.parametrize("config", [DRAFT, NGRAM, DRAFT | {"draft_tensor_parallel_size": 1}])
def test_good_configurations_are_left_alone(config: dict[str, Any]) -> None:
    assert found(serve(config)) == []
    assert found("vllm serve org/big") == []


def test_a_draft_as_parallel_as_the_target_is_fine() -> None:
    assert found(serve(DRAFT | {"draft_tensor_parallel_size": 4}, "-tp 4")) == []


def test_a_greedy_draft_is_harmful_where_requests_sample() -> None:
    sampling = """--override-generation-config '{"temperature": 0.7}'"""
    setting = '"draft_sample_method": "greedy"'
    assert found(serve(DRAFT, sampling)) == [(HARMFUL, setting)]
    assert found(serve(DRAFT | {"draft_sample_method": "probabilistic"}, sampling)) == []
    assert found(serve(NGRAM, sampling)) == []


def test_a_greedy_draft_by_default_is_a_hint_where_the_temperature_is_not_said() -> None:
    unsaid = {key: value for key, value in DRAFT.items() if key != "draft_sample_method"}
    assert found(serve(unsaid)) == [(HINT, '"method": "draft_model"')]


def test_block_verification_does_nothing_on_the_old_runner() -> None:
    block = {"rejection_sample_method": "block"}
    assert found(serve(NGRAM | block)) == []
    assert found(
        serve(NGRAM | block, "").replace("vllm", "VLLM_USE_V2_MODEL_RUNNER=0 vllm", 1)
    ) == [
        (IGNORED, '"rejection_sample_method": "block"'),
        (HARMFUL, "VLLM_USE_V2_MODEL_RUNNER 0"),
    ]


def test_heterogeneous_vocabularies_cannot_sample() -> None:
    both = {"use_heterogeneous_vocab": True, "draft_sample_method": "probabilistic"}
    setting = '"use_heterogeneous_vocab": true'
    assert found(serve(DRAFT | both)) == [(ERROR, setting), (HARMFUL, setting)]


def test_data_parallel_ranks_ignore_a_schedule() -> None:
    scheduled = NGRAM | {"num_speculative_tokens_per_batch_size": [[1, 8, 4]]}
    assert found(serve(scheduled, "-dp 2")) == [(IGNORED, "-dp 2")]


def test_requests_that_are_refused() -> None:
    assert found(serve(NGRAM) + """\ncurl -d '{"min_p": 0.1}'""") == [(ERROR, "min_p")]


def test_the_flags_of_old_are_gone() -> None:
    old = "vllm serve org/big --speculative-model org/small --num-speculative-tokens 5"
    assert found(old) == [(ERROR, "--speculative-model org/small")]


def test_broken_json_is_an_error() -> None:
    broken = "vllm serve x --speculative-config '{method: ngram}'"
    assert found(broken) == [(ERROR, "--speculative-config {method: ngram}")]
    assert found('vllm serve x --speculative-config "$CONFIG"') == []


def test_short_flags_are_read_as_keys() -> None:
    assert found("vllm serve x --spec-method medusa --spec-tokens 4") == [
        (ERROR, '"method": "medusa"')
    ]


@pytest.mark.parametrize(
    "text",
    [
        'model: org/big\nspeculative-config:\n  method: "medusa"\n  num_speculative_tokens: 4\n',
        'speculative_config: {"method": "medusa", "num_speculative_tokens": 4}',
        '{"speculative_config": {"method": "medusa", "num-speculative-tokens": 4}}',
        "LLM('x', speculative_config={'method': 'medusa', 'num_speculative_tokens': 4})",
    ],
)
def test_files_and_python_are_read_as_well(text: str) -> None:
    assert found(text) == [(ERROR, '"method": "medusa"')]
