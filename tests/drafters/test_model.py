"""A model as the draft: q is what was drawn from, and its cache follows the accepted text."""

import numpy as np
import pytest

from foredraft.core.errors import ForedraftError
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


@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_evidence_is_the_draft_models_own_probability(draft, temperature):
    """At temperature 1 without filters, so that a greedy request's is not always 1."""
    params = SamplingParams(temperature=temperature, top_k=2)
    proposed = ModelDrafter(draft, tiny.VOCAB).propose(
        TextSequence(PROMPT, params, Noise(4, False)), 4
    )
    for i, token in enumerate(proposed.tokens):
        weights = np.exp(logits(draft, [*PROMPT, *proposed.tokens[:i]]).astype(np.float64))
        assert proposed.evidence[i] == pytest.approx(weights[token] / weights.sum(), rel=1e-4)


def test_a_draft_ends_after_its_first_unsure_token(draft):
    sequence = TextSequence(PROMPT, SamplingParams(temperature=1.0), Noise(3, False))
    whole = ModelDrafter(draft, tiny.VOCAB).propose(sequence, 6)
    lengths = set()
    for least in whole.evidence:
        again = TextSequence(PROMPT, SamplingParams(temperature=1.0), Noise(3, False))
        cut = ModelDrafter(draft, tiny.VOCAB, least=least + 1e-3).propose(again, 6)
        assert cut.tokens == whole.tokens[: len(cut)]
        assert cut.evidence[-1] < least + 1e-3
        assert all(chance >= least for chance in cut.evidence[:-1])
        lengths.add(len(cut))
    assert len(lengths) > 1


def test_go_on_hears_the_evidence_so_far_and_decides(draft):
    heard = []

    def go_on(evidence):
        heard.append(list(evidence))
        return len(evidence) < 3

    sequence = TextSequence(PROMPT, SamplingParams(), Noise(0, True))
    proposed = ModelDrafter(draft, tiny.VOCAB, least=1.0).propose(sequence, 8, go_on)
    assert len(proposed) == 3
    assert heard == [list(proposed.evidence[:n]) for n in (1, 2, 3)]


def test_a_window_is_read_from_where_the_draft_began(draft):
    """The draft's cache starts there and stays valid while the text grows."""
    drafter = ModelDrafter(draft, tiny.VOCAB, window=3)
    sequence = TextSequence(PROMPT, SamplingParams(temperature=1.0), Noise(1, False))
    fed = []
    score = draft.score
    for more, expected in ([], [3, 1]), ([7, 8], [2, 1]):
        sequence.tokens += more
        draft.score = lambda batch: fed.append(len(batch[0].tokens)) or score(batch)
        proposed = drafter.propose(sequence, 2)
        draft.score = score
        assert fed == expected
        fed.clear()
        q = sequence.law(logits(draft, sequence.tokens[2:]))
        np.testing.assert_allclose(proposed.q[0], q, atol=1e-6)


@pytest.mark.parametrize("how", [{"least": 1.5}, {"least": -0.1}, {"window": 0}])
def test_settings_out_of_range(draft, how):
    with pytest.raises(ForedraftError, match=next(iter(how))):
        ModelDrafter(draft, tiny.VOCAB, **how)
