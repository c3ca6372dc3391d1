import pytest

from foredraft.core.errors import ForedraftError
from foredraft.planner.export import ENGINES, export
from foredraft.planner.lint import Severity, lint
from tests.planner.plans import CHOICES, LOSING, plan


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("drafter", CHOICES)
def test_what_is_exported_is_recognised_and_clean(engine: str, drafter: str) -> None:
    # TensorRT-LLM's plain settings are an empty file.
    for of in (plan(drafter), LOSING)[: 1 if engine == "trt-llm" else 2]:
        settings = export(of, engine)
        engines, findings = lint(settings.text)
        assert engines == {engine: settings.versions}
        # vLLM has a suffix lookup, but on its old runner alone: the export warns of it too.
        old = engine == "vllm" and of.best == CHOICES["suffix"]
        assert [finding.severity for finding in findings] == [Severity.HARMFUL] * old


def test_one_file_may_start_several_engines() -> None:
    text = "services:\n a:\n  command: llama-server --draft-max 8\n b:\n  image: vllm/vllm-openai\n"
    engines, findings = lint(text)
    assert list(engines) == ["llama.cpp", "vllm"]
    assert [finding.engine for finding in findings] == ["llama.cpp"]


@pytest.mark.parametrize("text", ["", "echo hello", "# llama-server --draft-max 8"])
def test_text_of_no_engine_is_refused(text: str) -> None:
    with pytest.raises(ForedraftError, match="TensorRT-LLM or Transformers that can be"):
        lint(text)
