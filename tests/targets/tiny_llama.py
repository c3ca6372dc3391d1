"""Tiny GGUF models run by llama.cpp, each beside the Transformers model it was written from."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_cpp")

from foredraft.targets.gguf import GGUFTarget
from foredraft.targets.llama import Model
from tests.targets import tiny_gguf
from tests.tiny import Characters

CONTEXT = 512
# Seven blocks: every sixth of Gemma's sees the whole text, the others a window.
SHAPES: dict[str, dict[str, Any]] = {"gemma3": {"num_hidden_layers": 7, "sliding_window": 8}}


@cache
def _made(kind: str, seed: int) -> tuple[Model, Any]:
    shape = {"max_position_embeddings": CONTEXT} | SHAPES.get(kind, {})
    made = tiny_gguf.model(kind, seed, **shape)
    with tempfile.TemporaryDirectory() as folder:
        return Model(tiny_gguf.write(Path(folder) / "tiny.gguf", kind, made)), made


def original(kind: str, seed: int = 0) -> Any:
    """The Transformers model whose numbers the target has."""
    return _made(kind, seed)[1]


def target(
    kind: str = "llama", seed: int = 0, *, context: int = CONTEXT, kv: str = "f32"
) -> GGUFTarget:
    """A target; it keeps keys and values in full precision, so that it can be compared."""
    model = _made(kind, seed)[0]
    return GGUFTarget(model, Characters(()), kind, context=context, threads=1, kv=kv)
