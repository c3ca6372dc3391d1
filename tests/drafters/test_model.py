"""A model as the draft: q is what was drawn from, and its cache follows the accepted text."""

import numpy as np
import pytest

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.drafters.model import ModelDrafter
from foredraft.targets.base import Rows
from tests import tiny

PROMPT = [1, 2, 3, 4, 5]


@pytest.fixture(scope="module")
def draft():
    return tiny.target(seed=5)


def logits(target, tokens):
    return target.score([Rows(target.open(), tokens)])[0][-1]


def test_q_is_the_law_of_each_token_under_the_request_own_settings(draft):
    params = SamplingParams(temperature=0.8, top_k=10, repetition_penalty=1.2)
    sequence = TextSequence(PROMPT, params, Noise(4, False))
    proposed = ModelDrafter(draft, tiny.VOCAB).propose(sequence, 4)
    for i, q in enumerate(proposed.q):
        before = proposed.tokens[:i]
        expected = sequence.law(logits(draft, [*PROMPT, *before]), before)
        np.testing.assert_allclose(q, expected, atol=1e-6)
        assert q[proposed.tokens[i]] > 0


@pytest.mark.parametrize("how", [{"greedy": True}, {}])
def test_greedy_tokens_are_reported_as_not_sampled(draft, how):
    params = SamplingParams(temperature=0.8 if how else 0.0)
    proposed = ModelDrafter(draft, tiny.VOCAB, **how).propose(
        TextSequence(PROMPT, params, Noise(4, False)), 3
    )
    assert proposed.q is None
    assert proposed.tokens[0] == int(np.argmax(logits(draft, PROMPT)))


def test_coupled_drafts_use_the_noise_of_the_position(draft):
    params = SamplingParams(temperature=1.0)
    sequence = TextSequence(PROMPT, params, Noise(9, True))
    proposed = ModelDrafter(draft, tiny.VOCAB).propose(sequence, 1)
    q = sequence.law(logits(draft, PROMPT))
    assert proposed.tokens[0] == Noise(9, True).draw_target(len(PROMPT), q)


@pytest.mark.parametrize("rows", [28, 40])
def test_padding_rows_may_differ(rows):
    """A draft with fewer or more rows: q has the target's size, nothing beyond either is drawn."""
    drafter = ModelDrafter(tiny.target(seed=5, vocab_size=rows), tiny.VOCAB)
    sequence = TextSequence(PROMPT, SamplingParams(temperature=1.5), Noise(1, False))
    proposed = drafter.propose(sequence, 20)
    assert all(q.size == tiny.VOCAB for q in proposed.q)
    assert max(proposed.tokens) < min(rows, tiny.VOCAB)


def test_a_short_draft_context_only_ends_drafting():
    drafter = ModelDrafter(tiny.target(max_position_embeddings=8), tiny.VOCAB)
    sequence = TextSequence(PROMPT, SamplingParams(), Noise(0, True))
    assert len(drafter.propose(sequence, 10)) == 3
    sequence.tokens += [1, 2, 3]
    assert len(drafter.propose(sequence, 10)) == 0


def test_the_next_turn_of_a_chat_finds_the_draft_cache_warm():
    target = tiny.target(seed=5)
    drafter = ModelDrafter(target, tiny.VOCAB)
    first = TextSequence(PROMPT, SamplingParams(), Noise(0, True))
    drafter.propose(first, 2)
    drafter.close(first)
    fed = []
    score = target.score
    target.score = lambda batch: fed.append(len(batch[0].tokens)) or score(batch)
    drafter.propose(TextSequence([*PROMPT, 30, 29], SamplingParams(), Noise(0, True)), 1)
    assert fed == [2]
