"""Trees: the likeliest tokens there are, or the shape that was asked for with every q as drawn."""

from itertools import pairwise

import numpy as np
import pytest

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.shape import Shape
from foredraft.core.tree import depth, path_chances
from foredraft.core.types import ROOT
from foredraft.drafters.head import HeadDrafter
from tests import tiny
from tests.drafters.test_head import fresh, text_of
from tests.heads.tiny_heads import HEADS

PROMPT = [1, 2, 3, 4, 5]
WARM = SamplingParams(temperature=0.9)
FORKED = Shape((ROOT, ROOT, 0, 0, 1, 2), 3, 0.0)
"""Two children of the root, two of the first, one of the second, and one below: two a level."""


@pytest.fixture(scope="module", params=["recurrent", "independent"])
def drafting(request):
    target = tiny.target()
    head = HEADS[request.param](target)
    target.tap(head.taps)
    return target, head


def path(draft, node):
    found = []
    while node != ROOT:
        found.append(draft.tokens[node])
        node = draft.parents[node]
    return found[::-1]


def after(drafting, draft, node):
    """The head's logits after a node, from a state of its own."""
    target, head = drafting
    return fresh(target, head, PROMPT, path(draft, node))[-1]


def softmax(logits):
    weights = np.exp(logits.astype(np.float64) - logits.max())
    return weights / weights.sum()


@pytest.mark.parametrize("limit", [1, 4, 8])
def test_greedy_trees_hold_the_likeliest_tokens_by_path(drafting, limit):
    target, head = drafting
    draft = HeadDrafter(head, target).propose(text_of(target, PROMPT), limit, None, FORKED)
    assert draft.q is None
    assert len(draft) == limit
    for node, token in enumerate(draft.tokens):
        expected = softmax(after(drafting, draft, draft.parents[node]))[token]
        assert draft.evidence[node] == pytest.approx(expected, rel=1e-3)
    reached = path_chances(draft, draft.evidence)
    root = softmax(fresh(target, head, PROMPT, [])[0])
    inside = {draft.tokens[n] for n in range(limit) if draft.parents[n] == ROOT}
    left_out = max(p for token, p in enumerate(root) if token not in inside)
    assert min(reached) >= left_out * (1 - 1e-3), "no first token left out is likelier than a node"


def test_siblings_are_different_and_in_order(drafting):
    target, head = drafting
    draft = HeadDrafter(head, target).propose(text_of(target, PROMPT), 20, None, FORKED)
    assert not draft.is_chain
    for below in draft.children().values():
        tokens = [draft.tokens[node] for node in below]
        assert len(set(tokens)) == len(tokens)
        assert all(draft.evidence[a] >= draft.evidence[b] for a, b in pairwise(below))


def test_at_coupled_the_first_child_is_what_the_targets_noise_draws_from_q(drafting):
    target, head = drafting
    sequence = text_of(target, PROMPT, WARM, Noise(7, True))
    draft = HeadDrafter(head, target).propose(sequence, 12, None, FORKED)
    assert draft.q is None
    for node, below in draft.children().items():
        before = path(draft, node)
        q = sequence.law(after(drafting, draft, node), before)
        position = len(PROMPT) + len(before)
        assert draft.tokens[below[0]] == Noise(7, True).draw_target(position, q)


def test_a_greedy_drafter_branches_where_q_is_large_at_any_temperature(drafting):
    target, head = drafting
    sequence = text_of(target, PROMPT, WARM, Noise(7, False))
    draft = HeadDrafter(head, target, greedy=True).propose(sequence, 6, None, FORKED)
    assert draft.q is None
    assert draft.tokens[0] == int(fresh(target, head, PROMPT, [])[0].argmax())


def test_sampled_trees_take_the_shape_and_every_q_is_as_drawn(drafting):
    target, head = drafting
    for seed in range(5):
        sequence = text_of(target, PROMPT, WARM, Noise(seed, False))
        draft = HeadDrafter(head, target).propose(sequence, 31, lambda evidence: False, FORKED)
        assert draft.parents == FORKED.parents
        for node, below in draft.children().items():
            rest = sequence.law(after(drafting, draft, node), path(draft, node)).copy()
            for child in below:
                np.testing.assert_allclose(draft.q[child], rest / rest.sum(), atol=1e-5)
                assert rest[draft.tokens[child]] > 0
                rest[draft.tokens[child]] = 0


def test_a_place_stays_empty_where_q_has_no_more_tokens(drafting):
    target, head = drafting
    narrow = SamplingParams(temperature=1.0, top_k=1)
    sequence = text_of(target, PROMPT, narrow, Noise(1, False))
    draft = HeadDrafter(head, target).propose(sequence, 31, None, FORKED)
    assert draft.parents == (ROOT, 0, 1), "the first child of each, and nothing below the others"


def test_a_shape_that_is_a_chain_is_drawn_as_one(drafting):
    target, head = drafting
    chain = Shape((ROOT, 0, 1), 3, 0.0)
    sequence = text_of(target, PROMPT, WARM, Noise(3, False))
    draft = HeadDrafter(head, target).propose(sequence, 31, lambda heard: len(heard) < 2, chain)
    assert draft.is_chain
    assert len(draft) == 2, "go_on may end a chain"


def test_go_on_hears_of_each_level_and_ends_a_tree(drafting):
    target, head = drafting
    heard = []

    def go_on(shares):
        heard.append(list(shares))
        return len(shares) < 2

    draft = HeadDrafter(head, target).propose(text_of(target, PROMPT), 31, go_on, FORKED)
    assert depth(draft) == 2
    assert [len(shares) for shares in heard] == [1, 2]
    assert all(0 < share <= 1 for share in heard[-1])
