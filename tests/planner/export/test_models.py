from pathlib import Path

import pytest

from foredraft.planner.export.models import Model, gguf, original, stem
from foredraft.targets.hub import KNOWN


def test_a_named_model_is_the_file_in_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREDRAFT_CACHE", "/there")
    assert gguf("smollm2") == Model("/there/smollm2.gguf")


@pytest.mark.parametrize("name", KNOWN)
def test_every_named_model_has_an_original(name: str) -> None:
    made = original(name, "vLLM")
    assert "/" in made.where
    assert made.notes


def test_a_file_in_a_repository_is_told_from_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gguf("org/repo/q4.gguf") == Model("org/repo", "q4.gguf")
    assert gguf("./org/repo/q4.gguf") == Model("./org/repo/q4.gguf")
    (tmp_path / "org/repo").mkdir(parents=True)
    (tmp_path / "org/repo/q4.gguf").touch()
    monkeypatch.chdir(tmp_path)
    assert gguf("org/repo/q4.gguf") == Model("org/repo/q4.gguf")


def test_what_an_engine_cannot_load_gets_a_name_to_replace_and_a_note() -> None:
    assert gguf("org/big").where == "big.gguf"
    assert "convert_hf_to_gguf.py" in gguf("org/big").notes[0]
    assert original("/models/big-Q4.gguf", "vLLM").where == "ORG/big-Q4"
    assert "in place of ORG/big-Q4" in original("/models/big-Q4.gguf", "vLLM").notes[0]


def test_what_it_can_load_passes_as_it_is() -> None:
    assert original("org/big", "vLLM") == Model("org/big")
    assert gguf("/models/big.gguf") == Model("/models/big.gguf")
    assert stem("org/big/") == "big"
