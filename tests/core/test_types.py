"""A draft is a tree whose parents come first, and its laws match its tokens."""

import numpy as np
import pytest

from foredraft.core.types import ROOT, Draft


def test_a_chain() -> None:
    draft = Draft.chain([5, 6, 7], source="ngram")
    assert draft.parents == (ROOT, 0, 1)
    assert draft.is_chain
    assert len(draft) == 3
    assert draft.children() == {ROOT: [0], 0: [1], 1: [2]}
    assert Draft.chain([]).is_chain


def test_a_tree_keeps_its_siblings_in_order() -> None:
    draft = Draft((1, 2, 3, 4), (ROOT, ROOT, 0, ROOT), None, "medusa")
    assert not draft.is_chain
    assert draft.children() == {ROOT: [0, 1, 3], 0: [2]}


@pytest.mark.parametrize(
    ("tokens", "parents", "q", "words"),
    [
        ((1, 2), (ROOT,), None, "one parent per token"),
        ((1, 2), (1, ROOT), None, "before their children"),
        ((1,), (0,), None, "before their children"),
        ((1,), (-2,), None, "before their children"),
        ((1, 2), (ROOT, 0), [np.ones(3) / 3], "one law q per token"),
    ],
)
def test_a_malformed_draft_is_refused(
    tokens: tuple[int, ...], parents: tuple[int, ...], q: list[np.ndarray] | None, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Draft(tokens, parents, q, "test")
