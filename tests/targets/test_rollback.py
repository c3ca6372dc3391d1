"""Any history of accepting, refusing, rewinding and giving up, against a cache made from nothing.

Both engines; sliding windows, recurrent layers and trees included. Two sequences take turns, and
one may begin anew with the other's tokens.
"""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foredraft.targets.base import Rows
from tests import tiny

TARGETS = [
    *(("torch", kind) for kind in ("llama", "gemma3", "gemma4", "qwen3_next")),
    *(("llama.cpp", kind) for kind in ("llama", "gemma3", "lfm2")),
]
PROMPT = 12  # longer than the tiny models' windows
NOISE = {"torch": 2e-4, "llama.cpp": 5e-4}
"""Of the largest logit: what another grouping of the rows changes. A wrong cache changes 0.1."""


@cache
def made(engine, kind):
    if engine == "torch":
        return tiny.target(kind)
    from tests.targets import tiny_llama

    return tiny_llama.target(kind)


@dataclass
class Step:
    """What happens to one of two sequences: a pass of which a path is kept, a rewinding, or that
    the other becomes its fork."""

    which: int
    tokens: list[int]
    forks: list[int]
    kept: int
    ending: str

    def parents(self, trees):
        """Each row's parent: the row before, or any earlier one where trees are possible."""
        rows = range(-1, len(self.tokens) - 1)
        return [
            fork % (row + 1) if trees and row > 0 else row
            for row, fork in zip(rows, [0, *self.forks], strict=False)
        ]


@st.composite
def steps(draw):
    tokens = draw(st.lists(st.integers(0, 30), min_size=1, max_size=6))
    return Step(
        which=draw(st.integers(0, 1)),
        tokens=tokens,
        forks=draw(st.lists(st.integers(0, 9), min_size=len(tokens) - 1, max_size=len(tokens) - 1)),
        kept=draw(st.integers(0, len(tokens) - 1)),
        ending=draw(st.sampled_from([*["keep"] * 3, "keep nothing", "give up", "rewind", "fork"])),
    )


def path_to(row, parents):
    path = []
    while row != -1:
        path.insert(0, row)
        row = parents[row]
    return path


def from_nothing(target, text, tokens):
    """Logits after each of `tokens` behind `text`, in a sequence that has seen nothing else."""
    sequence = target.open()
    target.prefill(sequence, text)
    return target.score([Rows(sequence, tokens)])[0]


@pytest.mark.parametrize(("engine", "kind"), TARGETS)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(history=st.lists(steps(), min_size=1, max_size=6))
def test_any_history_leaves_the_cache_that_its_text_would(engine, kind, history):
    if engine == "llama.cpp" and find_spec("llama_cpp") is None:
        pytest.skip("llama-cpp-python is not installed")
    target = made(engine, kind)
    sequences = [target.open(), target.open()]
    texts = [[(5 * i + i * i) % 31 for i in range(PROMPT)], [3, 1, 4, 1, 5]]
    for step in history:
        sequence, text = sequences[step.which], texts[step.which]
        target.prefill(sequence, text)
        if step.ending == "rewind":
            del text[max(1, len(text) - 2 * step.kept) :]
            continue
        if step.ending == "fork":
            length = len(text) - step.kept
            sequences[1 - step.which] = target.fork(sequence, length)
            texts[1 - step.which] = text[:length]
            assert sequences[1 - step.which].tokens in ([], text[:length])
            continue
        parents = step.parents(target.capabilities.trees)
        (logits,) = target.score([Rows(sequence, step.tokens, parents)])
        path = path_to(step.kept, parents)
        tokens = [step.tokens[row] for row in path]
        expected = from_nothing(target, text, tokens)
        np.testing.assert_allclose(
            logits[path], expected, atol=NOISE[engine] * np.abs(expected).max()
        )
        if step.ending == "keep":
            target.commit(sequence, path)
            text += tokens
        elif step.ending == "keep nothing":
            target.commit(sequence, [])
        assert len(text) < target.context
    for sequence, text in zip(sequences, texts, strict=True):
        target.prefill(sequence, text)
        assert sequence.tokens == text
        (logits,) = target.score([Rows(sequence, [7, 8])])
        expected = from_nothing(target, text, [7, 8])
        np.testing.assert_allclose(logits, expected, atol=NOISE[engine] * np.abs(expected).max())
