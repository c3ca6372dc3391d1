import numpy as np

from foredraft.core.types import ROOT, Draft, FloatArray, Verdict
from foredraft.engine.loop import LazyLaws, Round
from foredraft.planner.audit.proposal import Proposal, proposals

Q = [np.array([0.1, 0.6, 0.3]), np.array([0.5, 0.2, 0.3])]


def after(draft: Draft, *path: int) -> list[Proposal | None]:
    """The proposals of a round that accepted `path`."""
    laws = LazyLaws(None, np.zeros((0, 3), np.float32), draft)  # type: ignore[arg-type]
    return proposals(Round(draft, Verdict(path, 0, 0), laws, 0.0, 0.0, None))


def ids(found: list[Proposal | None]) -> list[list[int] | None]:
    return [None if one is None else sorted(one.ids.tolist()) for one in found]


def test_a_chain_proposes_at_each_place_that_was_reached() -> None:
    draft = Draft.chain([7, 8, 9])
    assert ids(after(draft)) == [[7]]
    assert ids(after(draft, 0)) == [[7], [8]]
    assert ids(after(draft, 0, 1, 2)) == [[7], [8], [9], None]
    assert ids(after(Draft.chain([]))) == [None]


def test_a_tree_proposes_its_first_child_along_the_path() -> None:
    draft = Draft((7, 8, 9, 6), (ROOT, ROOT, 1, 1), None, "tree")
    assert ids(after(draft, 1)) == [[7], [9]]


def test_what_was_drawn_is_replaced_by_what_it_was_drawn_from() -> None:
    first, second, last = after(Draft.chain([2, 1], Q), 0, 1)
    assert last is None
    for found, law in ((first, Q[0]), (second, Q[1])):
        assert found is not None
        assert found.q is not None
        assert dict(zip(found.ids.tolist(), found.q.tolist(), strict=True)) == dict(enumerate(law))


def test_what_is_overrated() -> None:
    p: FloatArray = np.array([0.15, 0.4, 0.45])
    (drawn, _) = after(Draft.chain([2], Q[:1]), 0)
    assert drawn is not None
    assert drawn.overrated(p, 0.0).tolist() == [1]
    assert drawn.overrated(p, 0.5).tolist() == []
    (lookup, _) = after(Draft.chain([2]), 0)
    assert lookup is not None
    assert lookup.overrated(p, 9.0).tolist() == [2]


def test_of_a_large_vocabulary_the_head_is_kept() -> None:
    q = np.arange(1000.0) / 499_500
    (found, _) = after(Draft.chain([5], [q]), 0)
    assert found is not None
    assert sorted(found.ids.tolist()) == list(range(936, 1000))
