"""A plan as the settings of the engine that a person runs."""

from foredraft.core.errors import ForedraftError
from foredraft.planner.export import (
    llama_cpp,
    lmstudio,
    ollama,
    sglang,
    transformers,
    trt_llm,
    vllm,
)
from foredraft.planner.export.settings import Settings
from foredraft.planner.plan import Plan

ENGINES = {
    "llama.cpp": llama_cpp.export,
    "lmstudio": lmstudio.export,
    "ollama": ollama.export,
    "vllm": vllm.export,
    "transformers": transformers.export,
    "sglang": sglang.export,
    "trt-llm": trt_llm.export,
}


def export(plan: Plan, engine: str) -> Settings:
    """The plan's choice for one of ENGINES; ForedraftError for another name."""
    check_engine(engine)
    return ENGINES[engine](plan)


def check_engine(engine: str) -> None:
    """ForedraftError for what is not one of ENGINES: to be known before measuring."""
    if engine not in ENGINES:
        raise ForedraftError(
            f"No engine is called {engine!r}; the engines are {', '.join(ENGINES)}."
        )
