import pytest

from foredraft.planner.export import export
from foredraft.planner.lint import lint
from tests.planner.plans import CHOICES, plan


def instructions(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("drafter", CHOICES)
def test_the_modelfile_is_plain_and_says_what_drafts_in_ollama(drafter: str) -> None:
    settings = export(plan(drafter, target="/models/big.gguf"), "ollama")
    assert settings.filename == "Modelfile"
    assert instructions(settings.text) == ["FROM /models/big.gguf"]
    assert f"# PARAMETER draft_num_predict {CHOICES[drafter].draft_len}" in settings.text
    assert any("MTP and DFlash heads alone" in said for said in settings.warnings)
    assert lint(settings.text)[1] == []


def test_a_file_in_a_repository_is_named_as_ollama_pulls_it() -> None:
    settings = export(plan(target="org/big/q4.gguf"), "ollama")
    assert instructions(settings.text) == ["FROM hf.co/org/big:q4.gguf"]
