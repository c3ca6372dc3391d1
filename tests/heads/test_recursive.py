"""A state's answers depend on the text and the branch alone, however it came to them."""

from random import Random as Dice

import numpy as np
import pytest

from foredraft.core.types import ROOT
from foredraft.heads import recursive
from foredraft.heads.load import load_head
from tests import tiny
from tests.heads import folders
from tests.heads.features import Random

FEATURES = Random(folders.HIDDEN)
TEXT = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]


@pytest.fixture(scope="module", params=["eagle3", "sliding", "eagle"])
def head(request, tmp_path_factory):
    config = folders.llama(draft_vocab_size=folders.DRAFTED)
    tensors = folders.eagle3()
    if request.param == "sliding":
        config |= {"layer_types": ["sliding_attention"], "sliding_window": 4}
    if request.param == "eagle":
        config, tensors = folders.llama(num_hidden_layers=2), folders.eagle(layers=2)
    folder = folders.write(tmp_path_factory.mktemp("heads") / "h", config, tensors)
    return load_head(str(folder), tiny.target(num_hidden_layers=6))


def scratch(head, text, branch=()):
    """Logits after the text and a chain, from a state that knew nothing."""
    state = head.open()
    logits = state.read(FEATURES, text)
    for i, token in enumerate(branch):
        (logits,) = state.grow([token], [i - 1])
    return logits


def same(left, right):
    np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5 * scale(right))


def scale(logits):
    return abs(logits[np.isfinite(logits)]).max()


def branch(tokens, parents, node):
    path = []
    while node != ROOT:
        path.append(tokens[node])
        node = parents[node]
    return path[::-1]


@pytest.mark.parametrize("cuts", [[12], [1, 2, 3, 12], [2, 7, 12], [5, 5, 12, 12]])
def test_texts_read_in_pieces(head, cuts):
    state = head.open()
    for cut in cuts:
        logits = state.read(FEATURES, TEXT[:cut])
        assert state.tokens == TEXT[:cut]
        same(logits, scratch(head, TEXT[:cut]))


def test_long_texts_are_read_in_chunks(head, monkeypatch):
    whole = scratch(head, TEXT)
    monkeypatch.setattr(recursive, "_CHUNK", 3)
    same(scratch(head, TEXT), whole)


@pytest.mark.parametrize("at_once", [True, False])
def test_trees(head, at_once):
    tokens, parents = [7, 8, 9, 7, 2, 2, 30], [ROOT, ROOT, 0, 0, 2, 1, 4]
    state = head.open()
    state.read(FEATURES, TEXT)
    if at_once:
        logits = state.grow(tokens, parents)
    else:
        layers = [(0, 2), (2, 4), (4, 6), (6, 7)]
        logits = np.concatenate([state.grow(tokens[a:b], parents[a:b]) for a, b in layers])
    for node in range(len(tokens)):
        same(logits[node], scratch(head, TEXT, branch(tokens, parents, node)))


def test_nodes_leave_no_trace(head):
    state = head.open()
    state.read(FEATURES, TEXT[:6])
    state.grow([7, 8, 9], [ROOT, ROOT, 1])
    same(state.read(FEATURES, TEXT), scratch(head, TEXT))
    state.grow([7], [ROOT])
    same(state.read(FEATURES, TEXT), scratch(head, TEXT))  # nothing new, and the nodes are gone
    (logits,) = state.grow([9], [ROOT])
    same(logits, scratch(head, TEXT, [9]))


def test_rewinds(head):
    state, other = head.open(), [*TEXT[:4], 20, 21]
    state.read(FEATURES, TEXT)
    state.rewind(4)
    assert state.tokens == TEXT[:4]
    same(state.read(FEATURES, other), scratch(head, other))
    for length in (0, 1, 6):
        state.rewind(length)
        same(state.read(FEATURES, other), scratch(head, other))


def test_nothing_is_known_before_the_second_token(head):
    logits = head.open().read(FEATURES, TEXT[:1])
    finite = logits[np.isfinite(logits)]
    assert (finite == 0).all()
    assert len(finite) == (32 if head.name == "eagle" else folders.DRAFTED)


def test_whole_rounds(head):
    """Drafts, trees and rewinds in any order."""
    dice, state, text = Dice(0), head.open(), TEXT[:3]
    for _ in range(12):
        same(state.read(FEATURES, text), scratch(head, text))
        tokens, parents = [], []
        while len(tokens) < 6:
            new = [dice.randrange(ROOT, len(tokens)) for _ in range(dice.choice((1, 2)))]
            drafted = [dice.randrange(folders.VOCAB) for _ in new]
            tokens, parents = tokens + drafted, parents + new
            for logits, node in zip(
                state.grow(drafted, new), range(len(tokens) - len(new), len(tokens)), strict=True
            ):
                same(logits, scratch(head, text, branch(tokens, parents, node)))
        text = [*text, *(dice.randrange(folders.VOCAB) for _ in range(dice.randrange(1, 4)))]
        if dice.random() < 0.2:
            text = text[: dice.randrange(2, len(text))]
            state.rewind(len(text))
