"""vLLM's configuration against the keys and values that its configuration class takes."""

import json
import shlex
from typing import Any

import pytest

from foredraft.planner.export import export
from foredraft.planner.plan import Plan, VerifyCurve
from tests.planner.plans import CHOICES, plan

KEYS = {
    "draft_model": {"model", "draft_sample_method"},
    "ngram": {"prompt_lookup_min", "prompt_lookup_max"},
    "suffix": {
        *("suffix_decoding_max_tree_depth", "suffix_decoding_max_cached_requests"),
        *("suffix_decoding_max_spec_factor", "suffix_decoding_min_token_prob"),
    },
}
"""Of vLLM 0.33's speculative configuration, by method; the common keys are below."""
COMMON = {"method", "num_speculative_tokens", "num_speculative_tokens_per_batch_size"}
BENT = VerifyCurve((1, 4, 16), (1.0, 1.1, 16.0))


def config(of: Plan) -> dict[str, Any]:
    words = shlex.split(export(of, "vllm").text.replace("\\\n", ""), comments=True)
    assert words[:3] == ["vllm", "serve", "org/big"]
    assert words[3] == "--speculative-config"
    found: dict[str, Any] = json.loads(words[4])
    return found


@pytest.mark.parametrize("drafter", CHOICES)
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_every_key_belongs_to_the_method(drafter: str, temperature: float) -> None:
    found = config(plan(drafter, temperature=temperature, verify_curve=BENT))
    assert found["num_speculative_tokens"] == CHOICES[drafter].draft_len
    assert found.keys() <= COMMON | KEYS[found["method"]]


def test_a_draft_model_samples_as_the_plan_did() -> None:
    assert config(plan(temperature=0.7)) == {
        "method": "draft_model",
        "model": "org/small",
        "num_speculative_tokens": 3,
        "draft_sample_method": "probabilistic",
    }
    assert config(plan())["draft_sample_method"] == "greedy"


def test_a_lookup_has_the_plans_window() -> None:
    found = config(plan("ngram"))
    assert (found["prompt_lookup_min"], found["prompt_lookup_max"]) == (2, 5)


def test_suffix_remembers_nothing_and_warns_of_the_old_runner() -> None:
    assert config(plan("suffix"))["suffix_decoding_max_cached_requests"] == 0
    assert any("old model runner" in said for said in export(plan("suffix"), "vllm").warnings)
    assert not any("runner" in said for said in export(plan("ngram"), "vllm").warnings)


def test_a_schedule_is_written_where_the_curve_bends_and_only_there() -> None:
    key = "num_speculative_tokens_per_batch_size"
    assert key not in config(plan())
    bent = plan(verify_curve=BENT)
    schedule = config(bent)[key]
    assert schedule[0] == [1, 1, 3]
    assert all(length <= 3 for _, _, length in schedule)
    assert any(key in said and "a processor" in said for said in export(bent, "vllm").warnings)
    assert key not in config(plan("suffix", verify_curve=BENT))


@pytest.mark.parametrize("kind", ["eagle", "eagle3", "mtp", "dflash", "dspark"])
def test_a_trained_head_goes_by_its_method(kind: str) -> None:
    found = config(plan(best={"drafter": kind, "draft": "my-head"}))
    assert (found["method"], found["model"]) == (kind, "my-head")
    warnings = export(plan(best={"drafter": kind, "draft": "my-head"}), "vllm").warnings
    assert any("the very weights" in said for said in warnings)
    assert not any("vocab_size" in said for said in warnings)
