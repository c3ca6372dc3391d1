import pytest

from foredraft.planner.lint import Severity, lint

ERROR, IGNORED, HARMFUL, HINT = Severity
OK = "llama-server -m big.gguf --spec-type draft-simple -md small.gguf"


def found(text: str) -> list[tuple[Severity, str]]:
    engines, findings = lint(text)
    assert list(engines) == ["llama.cpp"]
    return [(finding.severity, finding.setting) for finding in findings]


@pytest.mark.parametrize(
    ("flags", "severity"),
    [
        *((f"{flag} 16", ERROR) for flag in ("--draft", "--draft-n", "--draft-max", "--draft-min")),
        ("--draft-n-min 2", ERROR),
        ("-cd 4096", ERROR),
        ("--ctx-size-draft 4096", ERROR),
        ("--spec-replace a", ERROR),
        ("--spec-draft-conf-min 0.5", ERROR),
        ("--spec-ngram-size-n 4", ERROR),
        ("--spec-ngram-size-m 4", ERROR),
        ("--spec-ngram-min-hits 4", ERROR),
        ("--spec-draft-n-min 4", IGNORED),
        ("--spec-draft-p-split 0.2", IGNORED),
        ("--spec-ngram-simple-min-hits 2", IGNORED),
        ("--spec-ngram-map-k-min-hits 2", IGNORED),
        ("-lcd cache.bin", IGNORED),
        ("--spec-draft-n-max 16", HARMFUL),
        ("--spec-synth-len 3", HARMFUL),
        ("--spec-draft-p-min 0.75", HINT),
        ("--spec-ngram-mod-n-match 8", HINT),
    ],
)
def test_one_bad_flag_is_one_finding(flags: str, severity: Severity) -> None:
    assert found(f"{OK} {flags}") == [(severity, flags)]


@pytest.mark.parametrize(
    "text",
    [
        OK,
        "llama-server -m big.gguf",
        f"{OK} --spec-draft-n-max 8 --spec-draft-n-min 0 --spec-draft-p-min 0.5",
        "llama-server -m big.gguf --spec-type ngram-simple",
        "llama-server -m big.gguf --spec-type ngram-map-k4v --spec-ngram-map-k4v-min-hits 2",
        "llama-server -m big.gguf --spec-type ngram-mod -np 1",
        "llama-server -m big.gguf --spec-type draft-mtp",
        "llama-server -m big.gguf -md big-mtp.gguf",
        "llama-server -m big.gguf --spec-type draft-dflash -md d.gguf --spec-draft-n-max 16",
        "llama-server -m big.gguf --spec-type none",
    ],
)
def test_good_commands_are_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("flags", "severity", "setting"),
    [
        ("-md s.gguf", IGNORED, "-md s.gguf"),
        ("-hfd org/s", IGNORED, "-hfd org/s"),
        ("--spec-draft-n-max 4", IGNORED, "--spec-draft-n-max 4"),
        ("--spec-type draft-simple", IGNORED, "--spec-type draft-simple"),
        ("--spec-type ngram-simple -md s.gguf", IGNORED, "-md s.gguf"),
        ("--spec-type none,ngram-simple", IGNORED, "--spec-type none,ngram-simple"),
        ("--spec-type draft", ERROR, "--spec-type draft"),
        ("--spec-type ngram-mod", HARMFUL, "--spec-type ngram-mod"),
        ("--spec-type ngram-mod -np 2", HARMFUL, "--spec-type ngram-mod"),
        ("--spec-default", HARMFUL, "--spec-default"),
        ("--spec-type ngram-cache", HARMFUL, "--spec-type ngram-cache"),
    ],
)
def test_types_and_draft_models_must_agree(flags: str, severity: Severity, setting: str) -> None:
    assert found(f"llama-server -m big.gguf {flags}") == [(severity, setting)]


@pytest.mark.parametrize(("sizes", "bad"), [("-size-m 8", True), ("-size-n 4", False)])
def test_ngram_simple_must_copy_at_least_what_it_matches(sizes: str, bad: bool) -> None:
    text = f"llama-server -m x --spec-type ngram-simple --spec-ngram-simple{sizes}"
    assert bool(found(text)) is bad


def test_the_environment_is_read_too() -> None:
    assert found("LLAMA_ARG_DRAFT_MAX=16 llama-server -m x") == [(ERROR, "LLAMA_ARG_DRAFT_MAX 16")]
    model = "export LLAMA_ARG_SPEC_DRAFT_MODEL=s.gguf"
    assert found(model) == [(IGNORED, "LLAMA_ARG_SPEC_DRAFT_MODEL s.gguf")]
    assert found(f"{model}\nexport LLAMA_ARG_SPEC_TYPE=draft-simple") == []


def test_a_variable_that_nothing_reads_is_ignored_where_its_flag_is_an_error() -> None:
    assert found("LLAMA_ARG_CTX_SIZE_DRAFT=512") == [(IGNORED, "LLAMA_ARG_CTX_SIZE_DRAFT 512")]


def test_each_removed_flag_is_a_finding() -> None:
    assert len(found(f"{OK} --draft-max 8 --spec-ngram-size-n 4 --spec-ngram-size-m 8")) == 3


def test_settings_in_requests_are_ignored() -> None:
    request = """curl localhost:8080/completion -d '{"prompt": "x", "speculative.n_max": 8}'"""
    assert found(request) == [(IGNORED, "speculative.n_max")]
