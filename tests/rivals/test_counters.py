from dataclasses import replace

import pytest

from foredraft.rivals.counters import Counts, judged, of_answer, total
from tests.rivals.pages import FOREDRAFT_SPECULATION, LLAMA_TIMINGS, LM_STUDIO_STATS, VLLM_METRICS

SPECULATION = VLLM_METRICS["speculative_decoding"]


def test_llama_server_tells_drafted_and_accepted() -> None:
    counts = of_answer({"choices": [], "timings": LLAMA_TIMINGS})
    assert counts == Counts("llama-server timings", 26, 16)
    assert counts.acceptance_rate is None
    assert counts.accepted_of_drafted == 16 / 26
    assert counts.tokens_per_pass(24) == 24 / 8


def test_foredraft_tells_what_was_judged_and_how_many_drafts() -> None:
    counts = of_answer({"usage": {"completion_tokens": 30, "speculation": FOREDRAFT_SPECULATION}})
    assert counts == Counts("foredraft usage", 26, 16, 4, 6, 8)
    assert counts.acceptance_rate == 16 / 20
    off = FOREDRAFT_SPECULATION | dict.fromkeys(("drafted", "accepted", "rejected"), 0)
    counts = of_answer({"usage": {"speculation": off | {"drafters": {}}}})
    assert counts == Counts("foredraft usage", 0, 0, 0, 0, 0)


def test_llama_server_leaves_its_counters_out_where_nothing_was_drafted() -> None:
    plain = {name: value for name, value in LLAMA_TIMINGS.items() if "draft" not in name}
    assert of_answer({"timings": plain}) is None


def test_vllm_tells_everything() -> None:
    counts = of_answer({"metrics": VLLM_METRICS})
    assert counts == Counts("vLLM request metrics", 129, 10, 40, 79, 43, (4, 3, 3))
    assert counts.acceptance_rate == 10 / 50


def test_vllm_drafts_of_several_lengths() -> None:
    by_length = {"1": [2, 5], "3": [1, 0, 1, 4]}
    found = SPECULATION | {
        "acceptance_histogram": [3, 5, 1, 4],
        "acceptance_histogram_by_draft_length": by_length,
        "num_spec_steps": 13,
        "num_accepted_draft_tokens": 19,
        "num_draft_tokens": 25,
    }
    counts = of_answer({"metrics": {"speculative_decoding": found}})
    assert (counts.rejected, counts.ignored) == (4, 2)
    del found["acceptance_histogram_by_draft_length"]
    assert of_answer({"metrics": {"speculative_decoding": found}}).rejected is None
    steps = {"per_step_accepted": [1, 0, 2, 3], "per_step_drafted": [1, 1, 3, 3]}
    assert of_answer({"metrics": {"speculative_decoding": found | steps}}).rejected == 2


def test_vllm_before_it_told_lengths() -> None:
    older = {k: v for k, v in SPECULATION.items() if "by_draft" not in k}
    assert of_answer({"metrics": {"speculative_decoding": older}}).rejected == 40


@pytest.mark.parametrize("place", ["stats", "usage"])
def test_lm_studio_calls_all_that_was_not_accepted_rejected(place: str) -> None:
    counts = of_answer({place: LM_STUDIO_STATS})
    assert counts == Counts("LM Studio stats", 20, 17)


def test_lm_studios_sdk_and_nothing_refused() -> None:
    stats = {
        "usedDraftModelKey": "small",
        "totalDraftTokensCount": 9,
        "acceptedDraftTokensCount": 7,
        "rejectedDraftTokensCount": 0,
        "ignoredDraftTokensCount": 2,
    }
    assert of_answer({"stats": stats}) == Counts("LM Studio stats", 9, 7, 0, 2)


@pytest.mark.parametrize(
    "part",
    [
        {},
        {"timings": None, "stats": {}, "usage": {"completion_tokens": 5}, "metrics": None},
        {"metrics": {"speculative_decoding": None}},
        {"timings": {"draft_n": "many", "draft_n_accepted": True}},
        {"stats": {"total_draft_tokens_count": -1, "accepted_draft_tokens_count": 0}},
    ],
)
def test_what_is_not_told_is_not_guessed(part: dict) -> None:
    assert of_answer(part) is None


def test_accepted_whole_means_that_nothing_was_rejected() -> None:
    assert judged("x", 5, 5, None) == Counts("x", 5, 5, 0, 0)


def test_sums_know_what_every_part_knows() -> None:
    whole = Counts("a", 10, 6, 2, 2, 4, (3, 2, 1))
    assert total([]) is None
    assert total([whole, replace(whole, per_position=(1,))]) == Counts(
        "a", 20, 12, 4, 4, 8, (4, 2, 1)
    )
    assert total([whole, Counts("b", 1, 1)]) == Counts("a and b", 11, 7)


def test_no_passes_no_ratio() -> None:
    nothing = Counts("x", 0, 0, 0, 0)
    assert (nothing.acceptance_rate, nothing.accepted_of_drafted) == (None, None)
    assert Counts("x", 9, 9).tokens_per_pass(8) is None
