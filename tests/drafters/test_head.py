"""A head as the draft: q is what was drawn from, and its state follows the accepted text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import ROOT
from foredraft.drafters.head import HeadDrafter
from tests import tiny
from tests.heads.tiny_heads import HEADS

PROMPT = [1, 2, 3, 4, 5]
SAMPLED = SamplingParams(temperature=0.8, top_k=10, repetition_penalty=1.2)


@pytest.fixture(params=HEADS)
def drafting(request):
    """A target and a head for it."""
    target = tiny.target()
    head = HEADS[request.param](target)
    target.tap(head.taps)
    return target, head


def text_of(target, tokens, params=None, noise=None):
    """A text whose target has read all but its last token."""
    sequence = TextSequence(tokens, params or SamplingParams(), noise or Noise(4, False))
    sequence.cached = target.open()
    target.prefill(sequence.cached, tokens[:-1])
    return sequence


def extend(target, sequence, tokens):
    sequence.tokens += tokens
    target.prefill(sequence.cached, sequence.tokens[:-1])


def fresh(target, head, tokens, drafted):
    """Logits after a text and a chain below it, from a state that has seen nothing else."""
    state, cached = head.open(), text_of(target, tokens).cached
    logits = [state.read(cached, tokens)]
    for i, token in enumerate(drafted):
        logits.append(state.grow([token], [i - 1 if i else ROOT])[0])
    return logits


def test_q_is_the_law_of_each_token_under_the_request_own_settings(drafting):
    target, head = drafting
    drafter = HeadDrafter(head, target)
    sequence = text_of(target, PROMPT, SAMPLED)
    proposed = drafter.propose(sequence, 3)
    assert len(proposed) == 3
    logits = fresh(target, head, PROMPT, proposed.tokens)
    for i, q in enumerate(proposed.q):
        expected = sequence.law(logits[i], proposed.tokens[:i])
        np.testing.assert_allclose(q, expected, atol=1e-6)
        assert q[proposed.tokens[i]] > 0


@pytest.mark.parametrize("how", [{"greedy": True}, {}])
def test_greedy_tokens_are_reported_as_not_sampled(drafting, how):
    target, head = drafting
    params = SamplingParams(temperature=0.8 if how else 0.0)
    sequence = text_of(target, PROMPT, params)
    proposed = HeadDrafter(head, target, **how).propose(sequence, 3)
    assert proposed.q is None
    logits = fresh(target, head, PROMPT, proposed.tokens)
    assert list(proposed.tokens) == [int(np.argmax(one)) for one in logits[:-1]]


def test_coupled_drafts_use_the_noise_of_the_position(drafting):
    target, head = drafting
    sequence = text_of(target, PROMPT, SamplingParams(temperature=1.0), Noise(9, True))
    proposed = HeadDrafter(head, target).propose(sequence, 1)
    q = sequence.law(fresh(target, head, PROMPT, [])[0])
    assert proposed.tokens[0] == Noise(9, True).draw_target(len(PROMPT), q)


def test_evidence_is_the_heads_own_probability(drafting):
    target, head = drafting
    sequence = text_of(target, PROMPT, SamplingParams(temperature=0.5, top_k=2))
    proposed = HeadDrafter(head, target).propose(sequence, 3)
    logits = fresh(target, head, PROMPT, proposed.tokens)
    for i, token in enumerate(proposed.tokens):
        weights = np.exp(logits[i].astype(np.float64))
        assert proposed.evidence[i] == pytest.approx(weights[token] / weights.sum(), rel=1e-4)


def test_go_on_hears_the_evidence_so_far_and_the_unsure_token_stays(drafting):
    target, head = drafting
    heard = []

    def go_on(evidence):
        heard.append(list(evidence))
        return len(evidence) < 2

    proposed = HeadDrafter(head, target).propose(text_of(target, PROMPT), 3, go_on)
    assert len(proposed) == 2
    assert heard == [list(proposed.evidence[:n]) for n in (1, 2)]


def test_no_deeper_than_the_head_reaches():
    target = tiny.target()
    drafter = HeadDrafter(HEADS["independent"](target), target)
    assert len(drafter.propose(text_of(target, PROMPT), 10)) == 3


def test_a_text_of_one_token_has_no_hidden_state_yet(drafting):
    target, head = drafting
    drafter = HeadDrafter(head, target)
    assert len(drafter.propose(text_of(target, [7]), 3)) == 0
    sequence = text_of(target, [7])
    extend(target, sequence, [8])
    assert len(drafter.propose(sequence, 3)) == 3


def test_all_that_a_grammar_allows_may_be_rows_that_the_head_lacks():
    target = tiny.target()
    drafter = HeadDrafter(HEADS["recurrent"](target), target)
    sequence = text_of(target, PROMPT, SamplingParams(allowed_tokens=[3, 8]))
    assert len(drafter.propose(sequence, 3)) == 0


def test_the_next_turn_of_a_chat_finds_the_state_warm(drafting):
    target, head = drafting
    drafter = HeadDrafter(head, target)
    first = text_of(target, PROMPT)
    drafter.propose(first, 2)
    drafter.close(first)
    second = text_of(target, [*PROMPT, 30, 29])
    assert drafter.unread(second) == 2
    drafter.propose(second, 1)
    assert drafter.unread(second) == 0


def test_several_texts_at_once_are_drafted_for_as_each_is_alone(drafting):
    target, head = drafting
    drafter, alone = HeadDrafter(head, target), HeadDrafter(head, target)
    texts = [text_of(target, PROMPT[: 2 + i], SAMPLED, Noise(i, True)) for i in range(3)]
    together = drafter.propose_together([(text, 2, None, None) for text in texts])
    for text, draft in zip(texts, together, strict=True):
        assert draft.tokens == alone.propose(text, 2).tokens


@pytest.mark.parametrize("name", HEADS)
@settings(max_examples=25, deadline=None)
@given(
    rounds=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 30), st.integers(0, 9)),
        min_size=1,
        max_size=6,
    )
)
def test_the_state_is_in_step_after_every_outcome(name, rounds):
    """Whatever was drafted, accepted, refused and redrawn, or begun anew: the logits are those of
    a state that has seen nothing but the text."""
    target = tiny.target()
    head = HEADS[name](target)
    drafter = HeadDrafter(head, target, greedy=True)
    sequence = text_of(target, PROMPT)
    for drafted, accepted, redrawn, how in rounds:
        draft = drafter.propose(sequence, drafted)
        expected = fresh(target, head, sequence.tokens, draft.tokens)
        assert list(draft.tokens) == [int(one.argmax()) for one in expected[:-1]][: len(draft)]
        if draft.tokens:
            state = drafter._open[sequence]
            np.testing.assert_allclose(
                state.grow(draft.tokens[-1:], [len(draft) - 2])[0],
                expected[-1],
                atol=5e-4,  # of logits beyond 10 in float32, read in other pieces
            )
        extend(target, sequence, [*draft.tokens[:accepted], redrawn])
        if how == 0:
            drafter.close(sequence)
            sequence = text_of(target, [*sequence.tokens[: 2 + redrawn], redrawn])
