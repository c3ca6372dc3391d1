import pytest

from foredraft.planner.lint import Severity, lint

ERROR, IGNORED, HARMFUL, _ = Severity
DRAFT = "--speculative-algorithm STANDALONE --speculative-draft-model-path org/small"
NUMBERS = "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
EAGLE = f"--speculative-algorithm EAGLE3 --speculative-draft-model-path org/head {NUMBERS}"


def found(flags: str) -> list[tuple[Severity, str]]:
    engines, findings = lint(f"python3 -m sglang.launch_server --model-path org/big {flags}")
    assert list(engines) == ["sglang"]
    return [(finding.severity, finding.setting) for finding in findings]


@pytest.mark.parametrize(
    "flags",
    [
        "",
        DRAFT,
        f"{DRAFT} {NUMBERS}",
        EAGLE,
        f"{EAGLE} --speculative-adaptive --speculative-use-rejection-sampling",
        "--speculative-algorithm NEXTN",
        "--speculative-algorithm NGRAM --speculative-num-draft-tokens 5",
        f"{EAGLE} --speculative-accept-threshold-single 1.0",
        # A tree verifies more than its depth.
        EAGLE.replace("topk 1", "topk 4").replace("tokens 4", "tokens 16"),
    ],
)
def test_good_commands_are_left_alone(flags: str) -> None:
    assert found(flags) == []


@pytest.mark.parametrize(
    ("flags", "severity", "setting"),
    [
        ("--speculative-algorithm MEDUSA", ERROR, "--speculative-algorithm MEDUSA"),
        ("--speculative-algorithm EAGLE3", ERROR, "--speculative-algorithm EAGLE3"),
        ("--speculative-algorithm standalone", ERROR, "--speculative-algorithm standalone"),
        (
            f"{DRAFT} --speculative-num-draft-tokens 4",
            ERROR,
            "--speculative-num-draft-tokens 4",
        ),
        (f"{DRAFT} --enable-dp-attention", ERROR, "--enable-dp-attention"),
        (
            f"{DRAFT} --speculative-use-rejection-sampling",
            ERROR,
            "--speculative-use-rejection-sampling",
        ),
        (
            "--speculative-draft-model-path org/small",
            IGNORED,
            "--speculative-draft-model-path org/small",
        ),
        (
            f"{DRAFT} {NUMBERS}".replace("tokens 4", "tokens 3"),
            IGNORED,
            "--speculative-num-draft-tokens 3",
        ),
        (f"{DRAFT} --speculative-adaptive", IGNORED, "--speculative-adaptive"),
        (f"{EAGLE} --enable-mixed-chunk", IGNORED, "--enable-mixed-chunk"),
        (
            f"{EAGLE} --speculative-accept-threshold-acc 0.9",
            HARMFUL,
            "--speculative-accept-threshold-acc 0.9",
        ),
    ],
)
def test_one_bad_setting_is_one_finding(flags: str, severity: Severity, setting: str) -> None:
    assert found(flags) == [(severity, setting)]


def test_a_variable_that_is_not_read_any_more() -> None:
    _, findings = lint("SGLANG_ENABLE_SPEC_V2=True python3 -m sglang.launch_server")
    assert [f.setting for f in findings] == ["SGLANG_ENABLE_SPEC_V2 True"]
