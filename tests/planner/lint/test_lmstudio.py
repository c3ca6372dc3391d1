import pytest

from foredraft.planner.lint import Severity, lint

ERROR, _, _, HINT = Severity
SIMPLE = "--speculative-draft-simple --speculative-draft-model small"


def found(text: str) -> list[tuple[Severity, str]]:
    engines, findings = lint(text)
    assert list(engines) == ["lmstudio"]
    return [(finding.severity, finding.setting) for finding in findings]


@pytest.mark.parametrize(
    "flags",
    [
        "",
        SIMPLE,
        f"{SIMPLE} --speculative-draft-max-tokens 4 --speculative-draft-min-tokens 0",
        "--speculative-draft-mtp --speculative-draft-max-tokens 2",
        "--drafter small --speculative-draft-max-tokens 4",
        "--no-drafter",
    ],
)
def test_good_commands_are_left_alone(flags: str) -> None:
    assert found(f"lms load big {flags}") == []


@pytest.mark.parametrize(
    ("flags", "setting"),
    [
        (f"{SIMPLE} --speculative-draft-mtp", "--speculative-draft-mtp"),
        (f"{SIMPLE} --drafter small", "--drafter small"),
        ("--mtp --drafter small", "--drafter small"),
        ("--no-drafter --mtp", "--no-drafter"),
        ("--speculative-draft-simple", "--speculative-draft-simple"),
        ("--speculative-draft-model small", "--speculative-draft-model small"),
        ("--speculative-draft-max-tokens 4", "--speculative-draft-max-tokens 4"),
        (
            f"{SIMPLE} --speculative-draft-max-tokens 4 --speculative-draft-min-tokens 5",
            "--speculative-draft-min-tokens 5",
        ),
    ],
)
def test_what_lms_refuses(flags: str, setting: str) -> None:
    assert found(f"lms load big {flags}") == [(ERROR, setting)]


def test_the_sdk_s_draft_model_says_nothing_of_lengths() -> None:
    python = 'import lmstudio as lms\nlms.llm("big").respond("Hi", config={"draftModel": "small"})'
    assert found(python) == [(HINT, "draftModel")]
    assert found(f"{python}\n# lms load big --speculative-draft-max-tokens 4") == [
        (HINT, "draftModel")
    ]


def test_deprecated_settings_of_the_sdk() -> None:
    text = 'model.respond("Hi", { draftModel: "small", speculativeDecodingNumDraftTokensExact: 4 })'
    assert found(text) == [(HINT, "speculativeDecodingNumDraftTokensExact")]
