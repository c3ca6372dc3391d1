"""Predicted output as a draft."""

import numpy as np
import pytest

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.drafters.prediction import PredictionDrafter

SAID = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]


def after(output, said=SAID, limit=4):
    """What is drafted after each token of an output."""
    sequence = TextSequence([1, 2, 3], SamplingParams(), Noise(0, True))
    drafter = PredictionDrafter(said)
    drafts = [drafter.propose(sequence, limit)]
    for token in output:
        sequence.tokens.append(token)
        drafts.append(drafter.propose(sequence, limit))
    drafter.close(sequence)
    return [list(draft.tokens) for draft in drafts]


def test_it_begins_at_the_beginning_and_follows():
    assert after([10, 11]) == [[10, 11, 12, 13], [11, 12, 13, 14], [12, 13, 14, 15]]


def test_after_a_change_it_finds_its_place_again():
    assert after([10, 11, 99, 13, 14])[-3:] == [[], [], [15, 16, 17, 18]]


def test_something_inserted_or_left_out():
    assert after([10, 11, 98, 99, 12, 13])[-1] == [14, 15, 16, 17]
    assert after([10, 11, 16, 17])[-1] == [18, 19]


def test_of_equal_places_the_next_one_ahead_is_taken():
    said = [5, 6, 1, 5, 6, 2, 5, 6, 3]
    assert after([5, 6, 1, 5, 6], said)[-1][:1] == [2]
    assert after([5, 6, 1, 9, 5, 6], said)[-1][:1] == [2]


def test_at_its_end_nothing_is_drafted():
    assert after(SAID)[-1] == []
    assert after([], []) == [[]]


def test_evidence_is_the_agreement():
    sequence = TextSequence([1], SamplingParams(), Noise(0, True))
    sequence.tokens += SAID[:3]
    draft = PredictionDrafter(SAID).propose(sequence, 3)
    assert (draft.evidence, draft.q, draft.source) == ((3, 4, 5), None, "prediction")


@pytest.mark.parametrize("seed", range(5))
def test_any_output_is_survived(seed):
    chance = np.random.default_rng(seed)
    said = chance.integers(0, 4, 200).tolist()
    for drafted in after(chance.integers(0, 4, 300).tolist(), said, 6):
        assert len(drafted) <= 6
