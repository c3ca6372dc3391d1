"""Prompt lookup: the longest ending, its most recent occurrence, and nothing out of thin air."""

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.drafters.ngram import NgramDrafter, NgramIndex


def text(tokens):
    return TextSequence(tokens, SamplingParams(), Noise(0, True))


def propose(tokens, limit=5, **lengths):
    return NgramDrafter(**lengths).propose(text(tokens), limit)


def scan(tokens, limit, shortest, longest):
    """The same by a scan, obviously right: longest ending first, latest occurrence first."""
    for length in range(longest, shortest - 1, -1):
        for end in range(len(tokens) - 1, length - 1, -1):
            if tokens[end - length : end] == tokens[-length:]:
                period = len(tokens) - end
                return [tokens[end + i % period] for i in range(limit)]
    return []


def test_the_longest_ending_wins_over_a_later_shorter_one():
    assert propose([1, 2, 3, 7, 9, 2, 3, 8, 1, 2, 3]).tokens[0] == 7


def test_the_latest_occurrence_wins():
    assert propose([2, 3, 7, 2, 3, 8, 2, 3]).tokens[0] == 8


def test_nothing_matches():
    assert len(propose([1, 2, 3, 4, 5])) == 0
    assert len(propose([1])) == 0


def test_a_repeated_pattern_goes_on_beyond_the_end_of_the_text():
    assert propose([1, 2, 1, 2, 1, 2], limit=5).tokens == (1, 2, 1, 2, 1)


def test_the_draft_is_an_unsampled_chain_of_at_most_limit():
    draft = propose([1, 2, 3, 4, 1, 2], limit=2)
    assert (draft.tokens, draft.q, draft.source, draft.is_chain) == ((3, 4), None, "ngram", True)
    assert len(propose([1, 2, 3, 4, 1, 2], limit=0)) == 0


def test_the_index_equals_a_scan_while_the_text_grows():
    drafter, tokens = NgramDrafter(1, 4), [(i * i + 3 * i) % 5 for i in range(120)]
    sequence = text(tokens[:3])
    for step in range(3, 120):
        assert list(drafter.propose(sequence, 6).tokens) == scan(sequence.tokens, 6, 1, 4)
        sequence.tokens += tokens[step : step + 1]


def test_the_index_is_extended_not_rebuilt():
    index = NgramIndex(2, 3)
    seen = []

    class Counting(list):
        def __getitem__(self, key):
            seen.append(key)
            return super().__getitem__(key)

    tokens = Counting(range(500))
    index.extend(tokens)
    seen.clear()
    tokens.append(500)
    index.extend(tokens)
    assert len(seen) <= 2


def test_a_closed_sequence_leaves_nothing_behind():
    drafter = NgramDrafter()
    sequence = text([1, 2, 3, 1, 2])
    drafter.propose(sequence, 3)
    drafter.close(sequence)
    assert not drafter._indexes


@pytest.mark.parametrize("lengths", [(0, 3), (4, 3)])
def test_bad_lengths(lengths):
    with pytest.raises(ForedraftError, match="n-gram lengths"):
        NgramDrafter(*lengths)
