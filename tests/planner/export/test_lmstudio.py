import ast
import re

import pytest

from foredraft.planner.export import export
from tests.planner.plans import plan

FLAGS = {
    *("--speculative-draft-simple", "--speculative-draft-model"),
    *("--speculative-draft-max-tokens", "--speculative-draft-min-tokens"),
    "--speculative-draft-min-continue-probability",
}
"""Of `lms load`; newer versions call --speculative-draft-model --drafter and take both."""


def test_a_draft_model_is_loaded_with_the_planned_length() -> None:
    text = export(plan(target="/models/big.gguf"), "lmstudio").text
    assert set(re.findall(r"--[\w-]+", text)) == FLAGS
    assert "lms load big \\\n" in text
    assert "--speculative-draft-model small \\\n" in text
    assert "--speculative-draft-max-tokens 3 \\\n" in text


def test_both_sdks_name_the_draft_for_one_answer() -> None:
    text = export(plan(), "lmstudio").text
    python, typescript = re.findall(r"```(?:python|typescript)\n(.+?)```", text, re.DOTALL)
    ast.parse(python)
    assert 'config={"draftModel": "small"}' in python
    assert '{ draftModel: "small" }' in typescript


def test_the_sdks_draft_length_is_told_apart_from_the_plans() -> None:
    assert any("up to 16 tokens" in said for said in export(plan(), "lmstudio").warnings)


@pytest.mark.parametrize("drafter", ["ngram", "suffix"])
def test_lookups_are_out_of_reach(drafter: str) -> None:
    settings = export(plan(drafter), "lmstudio")
    assert "draft-model" not in settings.text
    assert "```sh\nlms load big\n```" in settings.text
    assert any(f"the plan's best is {drafter}" in said for said in settings.warnings)
