"""Tiny random heads for a target: every one in HEADS goes through tests/statistical/test_heads.py
and tests/drafters/test_head.py."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from foredraft.core.types import ROOT, FloatArray, LogitArray
from foredraft.heads.base import Features, Head
from foredraft.heads.checkpoint import Checkpoint
from foredraft.heads.dflash_load import dflash_load, dspark_load
from foredraft.heads.eagle import eagle_load
from foredraft.heads.eagle3_load import eagle3_load
from foredraft.heads.hydra_load import hydra_load
from foredraft.heads.kind import HeadKind
from foredraft.heads.medusa import medusa_load
from foredraft.heads.mtp import mtp_load
from foredraft.heads.peagle import peagle_load
from tests.heads import folders

_WIDTH = 8


class Recurrent:
    """The simplest head with a memory: each token's state comes from the hidden state before it,
    the token and the state before; a node takes its parent's state for the hidden state.

    Its vocabulary leaves every fifth token out.
    """

    name, taps, reach, parallel, signature = "recurrent", (1, 0), None, False, "recurrent head"

    def __init__(self, target: Any, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        size, vocabulary = len(self.taps) * target.model.config.hidden_size, target.vocab_size
        self.read = random.normal(0, 1 / np.sqrt(size), (_WIDTH, size))
        self.turn = random.normal(0, 0.5, (_WIDTH, _WIDTH))
        self.embed = random.normal(0, 1, (vocabulary, _WIDTH))
        self.out = random.normal(0, 0.7, (vocabulary, _WIDTH))
        self.missing = np.arange(vocabulary) % 5 == 3

    def open(self) -> "RecurrentState":
        return RecurrentState(self)

    def after(self, before: FloatArray, input: FloatArray, token: int) -> FloatArray:
        return np.tanh(self.turn @ before + input + self.embed[token])

    def logits(self, state: FloatArray) -> LogitArray:
        logits = (self.out @ state).astype(np.float32)
        logits[self.missing] = -np.inf
        return logits


class RecurrentState:
    def __init__(self, head: Recurrent) -> None:
        self.head = head
        self.tokens: list[int] = []
        self.states: list[FloatArray] = []  # one a token
        self.nodes: list[FloatArray] = []

    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        self.nodes = []
        assert list(text[: len(self.tokens)]) == self.tokens
        for place in range(len(self.tokens), len(text)):
            if place == 0:
                self.states.append(np.zeros(_WIDTH))
                continue
            hidden = features.hidden(self.head.taps, place - 1, place)[0].double().numpy()
            input = self.head.read @ hidden
            self.states.append(self.head.after(self.states[-1], input, text[place]))
        self.tokens = list(text)
        return self.head.logits(self.states[-1])

    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        first = len(self.nodes)
        for token, parent in zip(tokens, parents, strict=True):
            before = self.states[-1] if parent == ROOT else self.nodes[parent]
            self.nodes.append(self.head.after(before, before, token))
        return np.array([self.head.logits(state) for state in self.nodes[first:]])

    def rewind(self, length: int) -> None:
        del self.tokens[length:], self.states[length:]
        self.nodes = []


class Independent:
    """The simplest parallel head: one matrix a depth, each reading the last hidden state alone."""

    name, taps, reach, parallel, signature = "independent", (2,), 3, True, "independent head"

    def __init__(self, target: Any, seed: int = 1) -> None:
        random = np.random.default_rng(seed)
        self.taps = (target.model.config.num_hidden_layers,)
        size = target.model.config.hidden_size
        self.out = random.normal(0, 0.3, (self.reach + 1, target.vocab_size, size))

    def open(self) -> "IndependentState":
        return IndependentState(self)


class IndependentState:
    def __init__(self, head: Independent) -> None:
        self.head = head
        self.tokens: list[int] = []
        self.logits: LogitArray = np.empty(0, np.float32)
        self.depths: list[int] = []

    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        self.tokens, self.depths = list(text), []
        hidden = features.hidden(self.head.taps, len(text) - 2, len(text) - 1)[0]
        self.logits = (self.head.out @ hidden.double().numpy()).astype(np.float32)
        return self.logits[0]

    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        first = len(self.depths)
        for parent in parents:
            self.depths.append(1 if parent == ROOT else self.depths[parent] + 1)
        return self.logits[self.depths[first:]]

    def rewind(self, length: int) -> None:
        del self.tokens[length:]
        self.depths = []


def _loaded(kind: HeadKind, config: dict[str, Any], tensors: dict[str, Any]) -> Any:
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    return Checkpoint(f"tiny {kind}", kind, config, shapes, files={}, unpickled=tensors)


def eagle(target: Any) -> Head:
    size, vocab, _ = _sizes(target)
    config = folders.llama(size, vocab_size=vocab)
    return eagle_load(_loaded(HeadKind.EAGLE, config, folders.eagle(size=size)), target)


def eagle3(target: Any) -> Head:
    """It drafts some of the tokens only."""
    size, vocab, layers = _sizes(target)
    config = folders.llama(
        size,
        vocab_size=vocab,
        draft_vocab_size=vocab // 2,
        eagle_aux_hidden_state_layer_ids=[0, 1, layers],
    )
    tensors = folders.eagle3(size, draft_vocab=vocab // 2, target=size, vocab=vocab)
    return eagle3_load(_loaded(HeadKind.EAGLE3, config, tensors), target)


def _sizes(target: Any) -> tuple[int, int, int]:
    """Hidden size, vocabulary and layers."""
    config = target.model.config
    return config.hidden_size, config.vocab_size, config.num_hidden_layers


def _block(target: Any, **more: Any) -> dict[str, Any]:
    """A block drafter's config, which reads every layer of a small target."""
    size, vocab, layers = _sizes(target)
    told = {"mask_token_id": vocab - 1, "target_layer_ids": list(range(layers))}
    more |= {"hidden_size": size, "vocab_size": vocab, "num_target_layers": layers}
    return folders.z_lab(dflash_config=told, **more)


def dflash(target: Any) -> Head:
    size, _, layers = _sizes(target)
    tensors = folders.dflash(layers, 1, size)
    config = _block(target, num_hidden_layers=1)
    return dflash_load(_loaded(HeadKind.DFLASH, config, tensors), target)


def dspark(target: Any) -> Head:
    """Its correction is recurrent: what follows a node depends on all nodes above."""
    size, vocab, layers = _sizes(target)
    config = _block(target, markov_rank=4, markov_head_type="rnn")
    tensors = folders.dspark("rnn", layers, size, vocab)
    return dspark_load(_loaded(HeadKind.DSPARK, config, tensors), target)


def peagle(target: Any) -> Head:
    """It drafts some of the tokens only."""
    size, vocab, layers = _sizes(target)
    config = folders.aws(
        hidden_size=size,
        vocab_size=vocab,
        draft_vocab_size=vocab // 2,
        ptd_token_id=vocab - 1,
        eagle_aux_hidden_state_layer_ids=[0, 1, layers],
    )
    tensors = folders.peagle(size, vocab, vocab // 2)
    return peagle_load(_loaded(HeadKind.PEAGLE, config, tensors), target)


def medusa(target: Any) -> Head:
    tensors = folders.medusa(heads=4, rows=target.vocab_size, size=_sizes(target)[0])
    return medusa_load(_loaded(HeadKind.MEDUSA, {}, tensors), target)


def hydra(target: Any) -> Head:
    """Hydra++: it also reads the whole text."""
    tensors = folders.hydra(plus=True, heads=4, rows=target.vocab_size, size=_sizes(target)[0])
    return hydra_load(_loaded(HeadKind.HYDRA, {"hydra_head_arch": "prefix-mlp"}, tensors), target)


def mtp(target: Any, modules: int = 1) -> Head:
    """One module, which reads its own output."""
    tensors = folders.mtp(modules, target.model.config.num_hidden_layers, _sizes(target)[0])
    return mtp_load(_loaded(HeadKind.MTP, {}, tensors), target)


def mtp_stack(target: Any) -> Head:
    """A module for each depth."""
    return mtp(target, modules=4)


HEADS: dict[str, Callable[[Any], Head]] = {
    "recurrent": Recurrent,
    "independent": Independent,
    "eagle": eagle,
    "eagle3": eagle3,
    "dflash": dflash,
    "dspark": dspark,
    "peagle": peagle,
    "medusa": medusa,
    "hydra": hydra,
    "mtp": mtp,
    "mtp_stack": mtp_stack,
}
