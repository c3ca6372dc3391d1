"""A tapped target and its heads whose arithmetic is done once, and texts that they write."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch

from foredraft.core.sampling import SamplingParams
from foredraft.core.types import ROOT, Exactness, LogitArray
from foredraft.drafters.base import Drafter
from foredraft.engine.generator import Generator
from foredraft.engine.prices import Prices
from foredraft.engine.request import Request
from foredraft.heads.base import Features, Head, HeadState
from foredraft.targets.base import CachedSequence
from tests import tiny
from tests.cacheless import Held
from tests.heads.tiny_heads import HEADS
from tests.statistical.remembered import Remembered
from tests.statistical.runs import (
    DRAFT_LEN,
    EOS,
    LENGTH,
    PROMPT,
    SETTINGS,
    VOCAB,
    Runs,
    laws_remembered,
)
from tests.worlds import Text

ALLOWED = range(VOCAB)
"""The only tokens of its texts: a vocabulary small enough for every text's probability."""
_LONGER = 12
"""Tokens a text might have had: what is left of it bounds a tree's nodes."""


class Seen(Held):
    """Holds tokens; their hidden states are asked of the target."""

    def __init__(self, target: "Tapped") -> None:
        super().__init__()
        self._target = target

    def hidden(self, taps: Sequence[int], start: int, end: int) -> torch.Tensor:
        assert end <= len(self.tokens)
        texts = [tuple(self.tokens[: i + 1]) for i in range(start, end)]
        return torch.cat([self._target.state(text, tuple(taps)) for text in texts])


class Tapped(Remembered):
    """Also remembers the hidden state that each text ends in."""

    def __init__(self, real: Any) -> None:
        super().__init__(real)
        self.real = real
        self._states: dict[tuple[Text, Text], torch.Tensor] = {}

    def tap(self, taps: Sequence[int]) -> None:
        self.real.tap(taps)

    def open(self, *, bitwise: bool = False) -> Seen:
        return Seen(self)

    def state(self, text: Text, taps: Text) -> torch.Tensor:
        """[1, len(taps) · H]"""
        if (text, taps) not in self._states:
            sequence: CachedSequence = self.real.open()
            self.real.prefill(sequence, text)
            self._states[text, taps] = sequence.hidden(taps, len(text) - 1, len(text))  # type: ignore[attr-defined]
        return self._states[text, taps]


class RememberedHead:
    """Asks a real head only once for the logits after a text and a path of nodes below it.

    What its state forgets shows in tests/drafters/test_head.py.
    """

    signature = "remembered"

    def __init__(self, real: Head) -> None:
        self.name, self.taps, self.reach, self.parallel = (
            real.name,
            real.taps,
            real.reach,
            real.parallel,
        )
        self._real = real
        self._known: dict[tuple[Text, Text], LogitArray] = {}

    def open(self) -> HeadState:
        return _State(self)

    def after(self, features: Features, text: Text, path: Text) -> LogitArray:
        if (text, path) not in self._known:
            state = self._real.open()
            logits = state.read(features, text)
            for i, token in enumerate(path):
                logits = state.grow([token], [i - 1 if i else ROOT])[0]
            self._known[text, path] = np.array(logits)
        return self._known[text, path]


class _State:
    def __init__(self, head: RememberedHead) -> None:
        self._head = head
        self.tokens: list[int] = []
        self._paths: list[Text] = []
        self._features: Any = None

    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        self.tokens, self._paths, self._features = list(text), [], features
        return self._head.after(features, tuple(text), ())

    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        first = len(self._paths)
        for token, parent in zip(tokens, parents, strict=True):
            self._paths.append((*(self._paths[parent] if parent != ROOT else ()), token))
        text = tuple(self.tokens)
        return np.array(
            [self._head.after(self._features, text, path) for path in self._paths[first:]]
        )

    def rewind(self, length: int) -> None:
        del self.tokens[length:]


class Still(Prices):
    """Prices that stay, so that which paths are taken does not hang on the machine."""

    def observe_verify(self, *others: Any) -> None: ...
    def observe_draft(self, *others: Any) -> None: ...


@cache
def tapped() -> Tapped:
    return Tapped(tiny.target(eos=(EOS,)))


@cache
def head(name: str) -> RememberedHead:
    return RememberedHead(HEADS[name](tapped().real))


def settings(name: str) -> SamplingParams:
    """Those of runs.py, or "greedy", over ALLOWED."""
    params = SamplingParams() if name == "greedy" else SETTINGS[name]
    return replace(params, allowed_tokens=ALLOWED)


def generate(
    drafter: Drafter, params: SamplingParams, exactness: Exactness, n: int, fixed: bool
) -> tuple[Runs, set[bool]]:
    """n texts, the i-th from seed i, under Fixed or Adaptive, where rows cost next to nothing; and
    whether its drafts were chains."""
    generator = Generator(tapped(), drafter)
    generator._prices = {False: Still({1: 1.0, 2: 1.01, 32: 1.1}, {drafter.name: 0.01})}
    runs, chains = Runs(), set[bool]()
    with laws_remembered():
        for seed in range(n):
            request = Request(
                params,
                _LONGER,
                seed=seed,
                draft_len=DRAFT_LEN if fixed else None,
                exactness=exactness,
            )
            stream = generator.stream(PROMPT, request, watch=lambda r: chains.add(r.draft.is_chain))
            text = [token.id for token, _ in zip(stream, range(LENGTH), strict=False)]
            stream.close()
            runs.texts.append(tuple(text))
            runs.drafted += stream.result.stats.drafted
            runs.accepted += stream.result.stats.accepted
            runs.rejected += stream.result.stats.rejected
    return runs, chains
