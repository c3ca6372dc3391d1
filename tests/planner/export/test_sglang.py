import shlex

import pytest

from foredraft.planner.export import export
from tests.planner.plans import CHOICES, plan

FLAGS = {
    *("--model-path", "--speculative-algorithm", "--speculative-draft-model-path"),
    *("--speculative-num-steps", "--speculative-eagle-topk", "--speculative-num-draft-tokens"),
    *("--speculative-ngram-min-bfs-breadth", "--speculative-ngram-max-bfs-breadth"),
    *("--speculative-ngram-match-type", "--speculative-ngram-max-trie-depth"),
    "--speculative-ngram-capacity",
}
"""Of SGLang's documentation of speculative decoding."""


def command(drafter: str) -> list[str]:
    text = export(plan(drafter), "sglang").text
    return shlex.split(text.replace("\\\n", ""), comments=True)


@pytest.mark.parametrize("drafter", CHOICES)
def test_every_flag_is_documented(drafter: str) -> None:
    words = command(drafter)
    assert words[:4] == ["python3", "-m", "sglang.launch_server", "--model-path"]
    assert {word for word in words if word.startswith("--")} <= FLAGS


def test_a_draft_model_sets_all_three_numbers_and_drafts_a_chain() -> None:
    words = " ".join(command("model"))
    assert "--speculative-algorithm STANDALONE --speculative-draft-model-path org/small" in words
    # The verified token is counted beside the three drafted.
    assert (
        "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
    ) in words


@pytest.mark.parametrize(("drafter", "by", "rows"), [("ngram", "BFS", 5), ("suffix", "PROB", 7)])
def test_lookups_go_by_recency_or_frequency(drafter: str, by: str, rows: int) -> None:
    words = " ".join(command(drafter))
    assert f"--speculative-algorithm NGRAM --speculative-num-draft-tokens {rows}" in words
    assert f"--speculative-ngram-match-type {by}" in words
    assert any("one cache for all requests" in w for w in export(plan(drafter), "sglang").warnings)


@pytest.mark.parametrize(("kind", "algorithm"), [("eagle3", "EAGLE3"), ("mtp", "NEXTN")])
def test_a_trained_head_goes_by_its_algorithm(kind: str, algorithm: str) -> None:
    made = export(plan(best={"drafter": kind, "draft": "my-head"}, temperature=0.7), "sglang")
    words = " ".join(shlex.split(made.text.replace("\\\n", ""), comments=True))
    assert f"--speculative-algorithm {algorithm} --speculative-draft-model-path my-head" in words
    assert any("likeliest token" in said for said in made.warnings)
