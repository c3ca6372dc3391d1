"""Suffix drafting: frequency decides, the longest match weighs most, and the store is bounded."""

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.drafters.suffix import SuffixDrafter, SuffixIndex, SuffixStore


def text(tokens, prompt=None):
    sequence = TextSequence(tokens[:prompt], SamplingParams(), Noise(0, True))
    sequence.tokens = list(tokens)
    return sequence


def propose(tokens, limit=8, **how):
    return SuffixDrafter(**how).propose(text(tokens), limit)


def test_the_more_frequent_continuation_wins_over_the_later_one():
    assert propose([1, 2, 7, 1, 2, 7, 1, 2, 9, 1, 2]).tokens[0] == 7


def test_a_longer_match_draws_a_longer_draft():
    tokens = [*range(20), 90, 3, 4]
    assert propose(tokens).tokens == (5, 6, 7, 8)
    tokens = [*range(20), 90, 1, 2, 3, 4]
    assert propose(tokens).tokens == (5, 6, 7, 8, 9, 10, 11, 12)


def test_nothing_known_nothing_drafted():
    assert len(propose([1, 2, 3, 4])) == 0
    assert len(propose([1])) == 0
    assert len(propose([1, 2, 3, 1, 2], limit=0)) == 0


def test_branches_hold_the_likeliest_nodes_parents_first():
    tokens = [1, 2, 7, 5, 1, 2, 7, 5, 1, 2, 9, 6, 1, 2]
    draft = propose(tokens, limit=5, branching=True, factor=3)
    assert (draft.tokens, draft.parents) == ((7, 5, 1, 2, 9), (-1, 0, 1, 2, -1))
    assert draft.q is None
    siblings = [[draft.tokens[i] for i in group] for group in draft.children().values()]
    assert all(len(set(group)) == len(group) for group in siblings)


def test_improbable_continuations_are_left_out():
    tokens = [*(t for last in range(10, 30) for t in (1, 2, last)), 1, 2]
    assert len(propose(tokens, least=0.1)) == 0


def test_the_index_grows_with_the_text():
    drafter = SuffixDrafter()
    sequence = text([1, 2, 3, 4])
    assert len(drafter.propose(sequence, 4)) == 0
    sequence.tokens += [1, 2]
    assert drafter.propose(sequence, 4).tokens == (3, 4, 1, 2)


def test_earlier_outputs_are_drafted_from_and_prompts_are_not():
    store = SuffixStore()
    drafter = SuffixDrafter(store)
    first = text([50, 51, 52, 1, 2, 3, 4], prompt=3)
    drafter.propose(first, 4)
    drafter.close(first)
    assert drafter.propose(text([90, 1, 2]), 4).tokens == (3, 4)
    assert len(drafter.propose(text([90, 50, 51]), 4)) == 0
    assert len(SuffixDrafter().propose(text([90, 1, 2]), 4)) == 0, "another store, another user"


def test_the_store_forgets_the_oldest_first_and_leaves_no_trace():
    store = SuffixStore(capacity=10)
    for start in (0, 10, 20):
        store.add(range(start, start + 5))
    assert [t[0] for t in store.texts] == [10, 20]
    assert not list(store.index.matches([0, 1]))
    assert list(store.index.matches([10, 11]))
    store.add(range(100, 200))
    assert [len(t) for t in store.texts] == [10]
    for _ in range(50):
        store.add([])
    assert len(store.texts) == 1


def test_matches_are_as_long_as_they_are():
    index = SuffixIndex(depth=4)
    known = [9, 1, 2, 3, 4, 5, 6]
    index.add(known, 0)
    assert [(n, at) for n, _, at in index.matches([8, 1, 2, 3])] == [(3, 4)]
    assert [(n, at) for n, _, at in index.matches([1, 2, 3, 4, 5])] == [(4, 6)], "depth"
    assert [(n, at) for n, _, at in index.matches([5, 1, 2])] == [(2, 3)]


def test_lookups_do_not_grow_with_the_text():
    """A pair seen ten thousand times is compared with its latest occurrences only."""
    index = SuffixIndex(depth=8)
    index.add([1, 2] * 10_000, 0)
    assert len(list(index.matches([1, 2]))) <= 32


def test_a_negative_capacity_is_refused():
    with pytest.raises(ForedraftError, match="capacity"):
        SuffixStore(-1)


def test_a_store_survives_a_restart(tmp_path):
    store, again = SuffixStore(), SuffixStore(capacity=8)
    store.add([1, 2, 3, 4])
    store.add([5, 6, 7, 8, 9])
    store.save(tmp_path / "outputs.npz")
    again.load(tmp_path / "outputs.npz")
    assert list(again.texts) == [[5, 6, 7, 8, 9]], "the capacity holds here too"
    assert [p.name for p in tmp_path.iterdir()] == ["outputs.npz"]


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04cut"])
def test_a_file_that_is_no_store(tmp_path, content):
    path = tmp_path / "outputs.npz"
    path.write_bytes(content)
    with pytest.raises(ForedraftError, match="not a saved suffix store"):
        SuffixStore().load(path)
