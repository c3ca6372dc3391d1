"""p equals Transformers' own processors', and every bad setting is refused in words."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    LogitsProcessorList,
    MinNewTokensLengthLogitsProcessor,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
    SuppressTokensLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams, law
from foredraft.core.types import IntArray

V = 50
NONE = np.array([], dtype=np.int64)


def ids(*tokens: int) -> IntArray:
    return np.array(tokens, dtype=np.int64)


def logits(seed: int, size: int = V) -> Any:
    return (np.random.default_rng(seed).standard_normal(size) * 3).astype(np.float32)


def transformers_law(seed: int, params: SamplingParams, prompt: IntArray, output: IntArray) -> Any:
    """The same settings through Transformers' processors, in the order of its `generate`."""
    processors = LogitsProcessorList()
    if params.logit_bias:
        bias = {(token,): float(value) for token, value in params.logit_bias.items()}
        processors.append(SequenceBiasLogitsProcessor(bias))
    if params.repetition_penalty != 1:
        processors.append(RepetitionPenaltyLogitsProcessor(params.repetition_penalty))
    if params.min_tokens:
        processors.append(
            MinNewTokensLengthLogitsProcessor(len(prompt), params.min_tokens, eos_token_id=[1, 2])
        )
    if params.allowed_tokens is not None:
        barred = sorted(set(range(V)) - set(params.allowed_tokens))
        processors.append(SuppressTokensLogitsProcessor(barred))
    processors.append(TemperatureLogitsWarper(params.temperature))
    if params.top_k:
        processors.append(TopKLogitsWarper(params.top_k))
    if params.top_p < 1:
        processors.append(TopPLogitsWarper(params.top_p))
    if params.min_p:
        processors.append(MinPLogitsWarper(params.min_p))
    if params.typical_p < 1:
        processors.append(TypicalLogitsWarper(params.typical_p))
    text = torch.tensor(np.concatenate([prompt, output]))[None]
    scores = torch.tensor(logits(seed), dtype=torch.float64)[None]
    return torch.softmax(processors(text, scores), dim=-1)[0].numpy()


REQUESTS = st.builds(
    SamplingParams,
    temperature=st.floats(0.05, 3),
    top_k=st.integers(0, V + 5),
    top_p=st.one_of(st.just(1.0), st.floats(0.05, 0.999)),
    min_p=st.one_of(st.just(0.0), st.floats(0.001, 1)),
    typical_p=st.one_of(st.just(1.0), st.floats(0.05, 0.999)),
    repetition_penalty=st.one_of(st.just(1.0), st.floats(0.5, 2)),
    # In eighths, because Transformers keeps the bias in single precision.
    logit_bias=st.dictionaries(
        st.integers(3, V - 1), st.integers(-40, 40).map(lambda n: n / 8), max_size=4
    ),
    allowed_tokens=st.one_of(st.none(), st.sets(st.integers(3, V - 1), min_size=1)),
    min_tokens=st.integers(0, 6),
)
TEXTS = st.lists(st.integers(0, V - 1), max_size=8)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), REQUESTS, TEXTS.filter(bool), TEXTS)
def test_p_is_that_of_transformers(
    seed: int, params: SamplingParams, prompt: list[int], output: list[int]
) -> None:
    ours = law(logits(seed), params, ids(*prompt), ids(*output), eos=(1, 2))
    theirs = transformers_law(seed, params, ids(*prompt), ids(*output))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert ours.sum() == pytest.approx(1, abs=1e-12)


ALONE: list[dict[str, Any]] = [
    {},
    {"top_k": 1},
    {"top_k": 7},
    {"top_p": 0.9},
    {"min_p": 0.1},
    {"typical_p": 0.6},
    {"repetition_penalty": 1.3},
    {"logit_bias": {3: 5.0, 9: -100.0}},
    {"min_tokens": 5},
]


@pytest.mark.parametrize("setting", ALONE, ids=str)
def test_each_setting_alone_is_that_of_transformers(setting: dict[str, Any]) -> None:
    params = SamplingParams(temperature=0.8, **setting)
    for seed in range(10):
        ours = law(logits(seed), params, ids(3, 4, 4), ids(5, 9), eos=(1, 2))
        theirs = transformers_law(seed, params, ids(3, 4, 4), ids(5, 9))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_top_p_over_a_large_vocabulary() -> None:
    """The growing head finds the tokens that a full sort finds."""
    scores = logits(0, 20_000) / 10
    p = law(scores, SamplingParams(temperature=1), NONE, NONE)
    order = np.argsort(-p, kind="stable")
    for top_p in (0.01, 0.5, 0.99, 1 - 1e-9):
        kept = order[: int(np.searchsorted(np.cumsum(p[order]), top_p)) + 1]
        ours = law(scores, SamplingParams(temperature=1, top_p=top_p), NONE, NONE)
        assert set(np.flatnonzero(ours)) == set(kept)


def test_greedy_is_one_hot_at_the_lowest_id_on_ties() -> None:
    scores = np.array([0, 5, 1, 5, 5], dtype=np.float32)
    assert law(scores, SamplingParams(), NONE, NONE).tolist() == [0, 1, 0, 0, 0]
    assert SamplingParams().is_greedy
    assert not SamplingParams(temperature=0.1).is_greedy


def test_ties_at_the_edge_of_top_k_and_top_p_keep_the_lowest_ids() -> None:
    scores = np.array([1, 2, 1, 1], dtype=np.float32)
    edges: list[dict[str, Any]] = [{"top_k": 2}, {"top_p": 0.6}]
    for setting in edges:
        p = law(scores, SamplingParams(temperature=1, **setting), NONE, NONE)
        assert np.flatnonzero(p).tolist() == [0, 1]


@pytest.mark.parametrize("temperature", [1e-300, 1e-6, 1e6])
def test_extreme_temperatures_do_not_overflow(temperature: float) -> None:
    with np.errstate(all="raise", under="ignore"):
        p = law(logits(0), SamplingParams(temperature=temperature), NONE, NONE)
    assert p.sum() == pytest.approx(1)
    assert (p.max() == 1) == (temperature < 1)


def test_penalties_see_the_tokens_so_far() -> None:
    """The output so far includes drafted tokens: that is the law after them."""
    scores = np.zeros(4, dtype=np.float32)
    params = SamplingParams(temperature=1, presence_penalty=1, frequency_penalty=0.5)

    def weights(output: IntArray) -> list[float]:
        p = law(scores, params, ids(0, 0), output)
        return [float(weight) for weight in np.log(p / p[0])]

    assert weights(NONE) == pytest.approx([0, 0, 0, 0])
    assert weights(ids(2)) == pytest.approx([0, 0, -1.5, 0])
    assert weights(ids(2, 3, 2)) == pytest.approx([0, 0, -2, -1.5])
    greedy = SamplingParams(presence_penalty=1)
    assert np.argmax(law(scores, greedy, NONE, ids(0, 1))) == 2


def test_the_repetition_penalty_sees_the_prompt_too() -> None:
    scores = np.array([2, 1.5, -1], dtype=np.float32)
    params = SamplingParams(repetition_penalty=2)
    assert np.argmax(law(scores, params, NONE, NONE)) == 0
    assert np.argmax(law(scores, params, ids(0), NONE)) == 1
    assert np.argmax(law(scores, params, ids(0), ids(1))) == 0


def test_masks() -> None:
    scores = np.array([3, 2, 1, 0], dtype=np.float32)
    only = law(scores, SamplingParams(temperature=1, allowed_tokens=[2, 3]), NONE, NONE)
    assert np.flatnonzero(only).tolist() == [2, 3]
    early = SamplingParams(min_tokens=2)
    assert np.argmax(law(scores, early, NONE, ids(1), eos=(0,))) == 1
    assert np.argmax(law(scores, early, NONE, ids(1, 1), eos=(0,))) == 0
    banned = SamplingParams(temperature=1, logit_bias={0: -math.inf})
    assert law(scores, banned, NONE, NONE)[0] == 0


def test_the_logits_are_left_as_they_were() -> None:
    scores = logits(1)
    before = scores.copy()
    params = SamplingParams(repetition_penalty=2, presence_penalty=1, allowed_tokens=[1, 2])
    law(scores, params, ids(1, 2), ids(3))
    np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("top_k", -1),
        ("top_p", 0.0),
        ("top_p", 1.1),
        ("min_p", -0.1),
        ("min_p", 1.1),
        ("typical_p", 0.0),
        ("typical_p", 2.0),
        ("repetition_penalty", 0.0),
        ("repetition_penalty", math.inf),
        ("presence_penalty", math.nan),
        ("frequency_penalty", math.inf),
        ("min_tokens", -1),
        ("allowed_tokens", []),
    ],
)
def test_a_bad_value_is_refused_in_a_sentence(name: str, value: Any) -> None:
    with pytest.raises(ForedraftError, match=rf"^{name} is .* must be .*\.$"):
        SamplingParams(**{name: value})


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"logit_bias": {4: 1.0}}, "logit_bias names token 4, but the vocabulary ends at 3"),
        ({"logit_bias": {-1: 1.0}}, "logit_bias names token -1"),
        ({"allowed_tokens": [4]}, "allowed_tokens names a token outside the vocabulary 0…3"),
        ({"allowed_tokens": [-1]}, "allowed_tokens names a token outside"),
        ({"allowed_tokens": [0], "min_tokens": 1}, "the masks exclude every token"),
    ],
)
def test_a_request_that_does_not_fit_the_model_is_refused(params: Any, words: str) -> None:
    with pytest.raises(ForedraftError, match=words):
        law(np.zeros(4, dtype=np.float32), SamplingParams(**params), NONE, NONE, eos=(0,))


def test_overflowed_logits_are_refused() -> None:
    for bad in (math.nan, math.inf):
        with pytest.raises(ForedraftError, match="overflowed"):
            law(np.array([0, bad], dtype=np.float32), SamplingParams(), NONE, NONE)


def test_processors_come_after_the_masks_and_see_the_whole_text():
    seen = []

    def doubled(text, scores):
        seen.append((text.tolist(), scores.tolist()))
        return 2 * scores

    logits = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    params = SamplingParams(1.0, top_k=2, allowed_tokens=[0, 1], processors=[doubled, doubled])
    p = law(logits, params, np.array([2, 0]), np.array([1]))
    assert seen == [([2, 0, 1], [1.0, 2.0, -np.inf]), ([2, 0, 1], [2.0, 4.0, -np.inf])]
    np.testing.assert_allclose(p, [1 / (1 + np.exp(4)), 1 / (1 + np.exp(-4)), 0])


def test_processors_that_leave_nothing_are_an_error():
    params = SamplingParams(processors=[lambda text, scores: scores - np.inf])
    with pytest.raises(ForedraftError, match="No token has a finite score"):
        law(np.zeros(3, dtype=np.float32), params, np.array([0]), np.array([], dtype=np.int64))
