"""Trees of drafts: put together, cut down, judged by the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foredraft.core.tree import best_path, depth, followed, likeliest, merge, path_chances, subtree
from foredraft.core.types import ROOT, Draft

FORK = Draft((5, 6, 7, 8), (ROOT, 0, ROOT, 2), None, "fork", (1.0, 2.0, 3.0, 4.0))


def test_two_lookups_share_what_they_agree_on():
    left = Draft.chain([1, 2, 3], source="a")
    right = Draft.chain([1, 2, 4], source="b")
    tree, chances = merge([left, right], [[0.9, 0.5, 0.5], [0.4, 0.8, 0.3]])
    assert tree.tokens == (1, 2, 3, 4)
    assert tree.parents == (ROOT, 0, 1, 1)
    assert chances == [0.9, 0.8, 0.5, 0.3], "of two opinions on one token the better counts"
    assert tree.source == "a+b"
    assert tree.q is None


def test_an_empty_draft_adds_nothing_not_even_its_name():
    tree, chances = merge([Draft.chain([], source="a"), Draft.chain([3], source="b")], [[], [0.5]])
    assert (tree.tokens, tree.source, chances) == ((3,), "b", [0.5])


def test_a_subtree_keeps_evidence_and_laws_with_their_tokens():
    cut = subtree(FORK, [2, 3])
    assert cut == Draft((7, 8), (ROOT, 0), None, "fork", (3.0, 4.0))
    sampled = Draft.chain([1, 2], q=["q0", "q1"])
    assert subtree(sampled, [0]).q == ["q0"]


def test_without_trees_the_likeliest_path_is_taken():
    assert best_path(FORK, [0.3, 0.9, 0.5, 0.1]) == [2, 3]
    assert best_path(Draft.chain([]), []) == []


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ([5, 6, 1], [(0, True), (2, False), (1, True)]),
        ([7], [(0, False), (2, True)]),
        ([9, 6], [(0, False), (2, False)]),
        ([], []),
    ],
)
def test_a_draft_is_judged_by_what_the_text_became(text, judged):
    assert followed(FORK, text) == judged


chains = st.lists(st.integers(0, 2), max_size=5)


@given(st.lists(chains, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_each_prefix_of_the_likeliest_nodes_is_a_tree(texts, random):
    drafts = [Draft.chain(text, source=str(i)) for i, text in enumerate(texts)]
    tree, chances = merge(drafts, [[random.uniform(0.01, 0.99) for _ in text] for text in texts])
    order = likeliest(path_chances(tree, chances))
    for n in range(len(order) + 1):
        cut = subtree(tree, order[:n])  # raises if a parent is missing
        assert len(cut) == n
    for text in texts:  # every proposal is in the tree
        assert sum(taken for _, taken in followed(tree, text)) == len(text)


def test_depth_is_the_longest_path():
    assert depth(Draft.chain([])) == 0
    assert depth(Draft.chain([4, 5, 6])) == 3
    assert depth(Draft((1, 2, 3, 4), (ROOT, ROOT, 1, 0), None, "")) == 2
