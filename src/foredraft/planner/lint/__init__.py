"""Existing commands and files, read for settings of speculation that are gone, idle or harmful."""

from foredraft.core.errors import ForedraftError
from foredraft.planner.lint import (
    llama_cpp,
    lmstudio,
    ollama,
    sglang,
    transformers,
    trt_llm,
    vllm,
)
from foredraft.planner.lint.finding import Finding, Severity
from foredraft.planner.lint.source import settings_of

__all__ = ["Finding", "Severity", "lint"]

_ENGINES = (llama_cpp, lmstudio, ollama, vllm, sglang, trt_llm, transformers)


def lint(text: str) -> tuple[dict[str, str], list[Finding]]:
    """The engines that `text` is for, each with the versions the rules know, and the findings.

    Raises ForedraftError for text of no known engine.
    """
    text = settings_of(text)
    engines = [engine for engine in _ENGINES if engine.recognises(text)]
    if not engines:
        raise ForedraftError(
            "This is no command or file of llama.cpp, LM Studio, Ollama, vLLM, SGLang, "
            "TensorRT-LLM or Transformers that can be recognised; give the whole command, with the "
            "program's name."
        )
    found = [finding for engine in engines for finding in engine.findings(text)]
    return {engine.ENGINE: engine.VERSIONS for engine in engines}, found
