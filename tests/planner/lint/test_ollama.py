import pytest

from foredraft.planner.lint import Severity, lint

ERROR, IGNORED, _, HINT = Severity


def found(text: str) -> list[tuple[Severity, str]]:
    engines, findings = lint(text)
    assert list(engines) == ["ollama"]
    return [(finding.severity, finding.setting) for finding in findings]


@pytest.mark.parametrize(
    "text",
    [
        "FROM big.gguf",
        "from ./big.gguf\ndraft ./big-mtp.gguf\nparameter draft_num_predict 4\n",
        "FROM big.gguf\nPARAMETER temperature 0.7\nPARAMETER draft_num_predict 0\n",
    ],
)
def test_good_modelfiles_are_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("lines", "findings"),
    [
        ("DRAFT ./small.gguf", [(IGNORED, "DRAFT ./small.gguf")]),
        ("DRAFT ./big.gguf", [(ERROR, "DRAFT ./big.gguf")]),
        (
            "DRAFT ./mtp.gguf\nPARAMETER draft_num_predict 0",
            [(IGNORED, "PARAMETER draft_num_predict 0")],
        ),
        ("PARAMETER draft_num_predict 4", [(HINT, "PARAMETER draft_num_predict 4")]),
    ],
)
def test_drafts_that_do_not_draft(lines: str, findings: list[tuple[Severity, str]]) -> None:
    assert found(f"FROM ./big.gguf\n{lines}\n") == findings


def test_a_draft_from_a_library_is_an_error() -> None:
    assert (ERROR, "DRAFT qwen3:0.6b-mtp") in found("FROM qwen3:8b\nDRAFT qwen3:0.6b-mtp\n")


def test_variables_of_other_projects() -> None:
    assert found("OLLAMA_MTP_DRAFT=4 ollama serve") == [(IGNORED, "OLLAMA_MTP_DRAFT")]
