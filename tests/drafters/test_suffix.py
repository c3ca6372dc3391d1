"""Suffix drafting: occurrences vote, the longer and the later weigh more, the store is shared."""

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.drafters.store import SuffixStore
from foredraft.drafters.suffix import SuffixDrafter


def text(tokens, prompt=None):
    sequence = TextSequence(tokens[:prompt], SamplingParams(), Noise(0, True))
    sequence.tokens = list(tokens)
    return sequence


def propose(tokens, limit=8, **how):
    return SuffixDrafter(**how).propose(text(tokens), limit)


def test_the_more_frequent_continuation_wins_over_the_later_one():
    assert propose([1, 2, 7, 1, 2, 7, 1, 2, 9, 1, 2]).tokens[0] == 7


def test_of_equals_the_later_wins():
    assert propose([1, 2, 7, 1, 2, 9, 1, 2]).tokens[0] == 9


def test_the_longer_agreement_wins_over_the_more_frequent():
    frequent = [0, 6, 2, 8] * 3
    assert propose([5, 4, 3, 2, 1, 2, 7, *frequent, 5, 4, 3, 2, 1, 2]).tokens[0] == 7


def test_a_single_token_is_enough():
    assert propose([5, 1, 6, 1]).tokens[0] == 6


def test_a_repeated_pattern_goes_on_beyond_the_end_of_the_text():
    assert propose([1, 2, 1, 2, 1, 2], limit=5).tokens == (1, 2, 1, 2, 1)


def test_nothing_known_nothing_drafted():
    assert len(propose([1, 2, 3, 4])) == 0
    assert len(propose([1])) == 0
    assert len(propose([1, 2, 3, 1, 2], limit=0)) == 0


def test_evidence_grows_along_a_copy_and_with_the_share_of_the_votes():
    copied = propose([*range(20), 90, *range(10)]).evidence
    assert list(copied) == sorted(copied)
    assert copied[0] == pytest.approx(1 - 0.7 / 10)
    assert propose([1, 7, 5, 1, 9, 6, 1], limit=1, least=0).evidence[0] < 0.3


def test_a_surer_text_draws_a_longer_draft():
    lengths = [len(propose([*range(40), 90, *range(20 - n, 20)], 16)) for n in (1, 2)]
    assert lengths == [5, 16]
    assert len(propose([*range(40), 90, 19], 16, least=0)) == 16


def test_branches_hold_the_likeliest_nodes_parents_first():
    tokens = [1, 2, 7, 5, 1, 2, 7, 5, 1, 2, 9, 6, 1, 2]
    draft = propose(tokens, limit=6, branching=True)
    assert (draft.tokens[:3], draft.parents[:3]) == ((7, 5, 1), (-1, 0, 1))
    assert 9 in draft.tokens
    assert draft.q is None
    siblings = [[draft.tokens[i] for i in group] for group in draft.children().values()]
    assert all(len(set(group)) == len(group) for group in siblings)
    for group in draft.children().values():
        assert sum(draft.evidence[node] for node in group) < 1


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


def test_a_closed_sequence_leaves_nothing_behind():
    drafter = SuffixDrafter()
    sequence = text([1, 2, 3, 1, 2])
    drafter.propose(sequence, 3)
    drafter.close(sequence)
    assert not drafter._own


@pytest.mark.parametrize("least", [-0.1, 1.1])
def test_a_least_out_of_range_is_refused(least):
    with pytest.raises(ForedraftError, match="least"):
        SuffixDrafter(least=least)
