import pytest

from foredraft.planner.lint import Severity, lint

ERROR, IGNORED, HARMFUL, HINT = Severity
DRAFT = ("decoding_type: Draft_Target", "max_draft_len: 4", "speculative_model: org/small")
NGRAM = ("decoding_type: NGram", "max_draft_len: 4", "is_public_pool: false")
MTP = ("decoding_type: MTP",)


def found(*keys: str) -> list[tuple[Severity, str]]:
    text = "disable_overlap_scheduler: true\nspeculative_config:\n"
    engines, findings = lint(text + "".join(f"  {key}\n" for key in keys))
    assert list(engines) == ["trt-llm"]
    return [(finding.severity, finding.setting) for finding in findings]


@pytest.mark.parametrize("keys", [DRAFT, NGRAM, MTP, ("decoding_type: AUTO",)])
def test_good_configurations_are_left_alone(keys: tuple[str, ...]) -> None:
    assert found(*keys) == []


@pytest.mark.parametrize(
    ("keys", "severity", "setting"),
    [
        (("decoding_type: DraftTarget", *DRAFT[1:]), ERROR, 'decoding_type: "DraftTarget"'),
        (("decoding_type: Medusa",), ERROR, 'decoding_type: "Medusa"'),
        (("decoding_type: ngram", *NGRAM[1:]), ERROR, 'decoding_type: "ngram"'),
        (DRAFT[:2], ERROR, 'decoding_type: "Draft_Target"'),
        ((NGRAM[0], "max_draft_len: 0", NGRAM[2]), ERROR, 'decoding_type: "NGram"'),
        ((*DRAFT, "acceptance_window: 64"), ERROR, "acceptance_window: 64"),
        (("decoding_type: AUTO", "max_draft_len: 4"), IGNORED, "max_draft_len: 4"),
        ((*MTP, "mtp_eagle_one_model: true"), IGNORED, "mtp_eagle_one_model: true"),
        (
            (*MTP, "use_rejection_sampling: true", "sa_config: {}"),
            IGNORED,
            "use_rejection_sampling: true",
        ),
        (
            (*MTP, "use_relaxed_acceptance_for_thinking: true"),
            HARMFUL,
            "use_relaxed_acceptance_for_thinking: true",
        ),
        ((*DRAFT, "posterior_threshold: 0.09"), HARMFUL, "posterior_threshold: 0.09"),
        (NGRAM[:2], HARMFUL, 'decoding_type: "NGram"'),
        ((*DRAFT, "acceptance_rate_threshold: 0.3"), HINT, "acceptance_rate_threshold: 0.3"),
    ],
)
def test_one_bad_key_is_one_finding(
    keys: tuple[str, ...], severity: Severity, setting: str
) -> None:
    assert found(*keys) == [(severity, setting)]


def test_a_command_alone_says_nothing() -> None:
    assert lint("trtllm-serve org/big --config trtllm.yaml")[1] == []
