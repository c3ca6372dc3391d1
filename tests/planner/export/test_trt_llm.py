from typing import Any

import pytest

from foredraft.planner.export import export
from tests.planner.plans import CHOICES, LOSING, plan

yaml = pytest.importorskip("yaml")

KEYS = {
    "Draft_Target": {"speculative_model"},
    "NGram": {"max_matching_ngram_size", "is_keep_all", "is_use_oldest", "is_public_pool"},
    "SA": {"max_matching_ngram_size", "enable_global_pool", "global_pool_size"},
}
"""Of TensorRT-LLM 1.3's configuration classes, beside decoding_type and max_draft_len."""


def config(drafter: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(export(plan(drafter), "trt-llm").text)
    return found


@pytest.mark.parametrize("drafter", CHOICES)
def test_every_key_belongs_to_the_type(drafter: str) -> None:
    found = config(drafter)
    assert found.keys() <= {"speculative_config", "disable_overlap_scheduler"}
    speculation = found["speculative_config"]
    allowed = KEYS[speculation["decoding_type"]] | {"decoding_type", "max_draft_len"}
    assert speculation.keys() <= allowed
    assert speculation["max_draft_len"] == CHOICES[drafter].draft_len


def test_each_drafter_has_its_type() -> None:
    types = {drafter: config(drafter)["speculative_config"] for drafter in CHOICES}
    assert types["model"]["decoding_type"] == "Draft_Target"
    assert types["model"]["speculative_model"] == "org/small"
    assert types["ngram"]["decoding_type"] == "NGram"
    assert types["ngram"]["is_public_pool"] is False
    assert types["suffix"] == {"decoding_type": "SA", "max_draft_len": 6}


def test_only_the_suffix_automaton_keeps_the_overlap_scheduler() -> None:
    off = {d for d in CHOICES if config(d).get("disable_overlap_scheduler")}
    assert off == {"model", "ngram"}


def test_plain_settings_need_no_file() -> None:
    text = export(LOSING, "trt-llm").text
    assert yaml.safe_load(text) is None
    assert text.endswith("# trtllm-serve org/big\n")
