"""The whole engine on tiny random models: the drafter must never change the text."""

import math

import numpy as np
import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft, Exactness
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.none import NoDrafter
from foredraft.drafters.suffix import SuffixDrafter, SuffixStore
from foredraft.engine.generator import Generator
from foredraft.engine.prices import Prices
from foredraft.engine.reference import decode_plainly
from foredraft.engine.request import Request
from tests import tiny

PROMPT = [1, 2, 3, 4, 1, 2, 3]
SETTINGS = {
    "greedy": SamplingParams(),
    "t0.7": SamplingParams(temperature=0.7),
    "filters": SamplingParams(temperature=1.0, top_k=12, top_p=0.9, min_p=0.02),
    "penalties": SamplingParams(
        temperature=1.0, repetition_penalty=1.3, presence_penalty=0.4, frequency_penalty=0.2
    ),
    "greedy-penalties": SamplingParams(repetition_penalty=1.3, frequency_penalty=0.5),
}


class Oracle(NoDrafter):
    """Knows the answer; the last `wrong` tokens of each draft are spoiled."""

    name = "oracle"
    expected = ((0.0, 0.9),)

    def __init__(self, answer, wrong=0):
        self.answer, self.wrong = answer, wrong

    def propose(self, sequence, limit):
        done = len(sequence.output)
        right = self.answer[done : done + limit]
        spoiled = [
            (t + 1) % tiny.VOCAB if i >= len(right) - self.wrong else t for i, t in enumerate(right)
        ]
        return Draft.chain(spoiled, source=self.name)


class Branches(Oracle):
    """A tree: at each depth the right token and a wrong sibling, in either order."""

    def propose(self, sequence, limit):
        done, tokens, parents, trunk = len(sequence.output), [], [], -1
        for i, right in enumerate(self.answer[done : done + limit]):
            pair = [right, (right + 1) % tiny.VOCAB]
            tokens += pair if i % 2 else pair[::-1]
            parents += [trunk, trunk]
            trunk = len(tokens) - (2 if i % 2 else 1)
        return Draft(tuple(tokens), tuple(parents), None, self.name)


def drafters(target, answer):
    twin = tiny.target("llama", seed=0)
    other = tiny.target("llama", seed=5)
    small = tiny.target("llama", seed=0, vocab_size=28)
    built = {
        "none": NoDrafter(),
        "ngram": NgramDrafter(1, 4),
        "suffix": SuffixDrafter(SuffixStore()),
        "twin": ModelDrafter(twin, target.vocab_size),
        "other": ModelDrafter(other, target.vocab_size),
        "fewer-rows": ModelDrafter(small, target.vocab_size),
        "greedy": ModelDrafter(twin, target.vocab_size, greedy=True),
        "oracle": Oracle(answer),
        "half-right": Oracle(answer, wrong=2),
    }
    return built | {"tree": Branches(answer), "suffix-tree": SuffixDrafter(branching=True)}


@pytest.mark.parametrize(
    ("kind", "settings"),
    [*(("llama", name) for name in SETTINGS), ("gemma3", "filters"), ("qwen3_next", "filters")],
)
def test_text_does_not_depend_on_the_drafter(kind, settings):
    """Level `coupled`: same seed, same text, for every drafter; equal to the reference loop.

    In fp32 two of 31 logits tie within rounding about once in 10^5 tokens; the seeds are fixed.
    """
    target = tiny.target(kind)
    params = SETTINGS[settings]
    answer = decode_plainly(target, TextSequence(PROMPT, params, Noise(3, True)), 24)
    request = Request(params, max_new_tokens=24, seed=3, ignore_eos=True, draft_len=5)
    for name, drafter in drafters(target, answer).items():
        result = Generator(target, drafter).generate(PROMPT, request)
        assert [t.id for t in result.tokens] == answer, name
        assert result.stats.generated_tokens == 24
        assert sum(t.from_draft for t in result.tokens) == result.stats.accepted
        if name == "oracle":
            assert result.stats.target_passes == math.ceil(24 / 6)
        if name == "twin" and kind == "llama":
            assert result.stats.acceptance_rate == 1.0, "shared noise on equal laws always agrees"


@pytest.mark.parametrize("kind", ["llama", "gemma3", "qwen3_next"])
@pytest.mark.parametrize("settings", ["greedy", "filters"])
def test_text_does_not_depend_on_what_the_controller_chooses(kind, settings):
    """Whatever it takes of five drafters, sampled ones and trees among them."""
    target = tiny.target(kind)
    params = SETTINGS[settings]
    answer = decode_plainly(target, TextSequence(PROMPT, params, Noise(3, True)), 40)
    built = drafters(target, answer)
    chosen = [built[name] for name in ("ngram", "suffix-tree", "half-right", "other", "twin")]
    generator = Generator(target, *chosen)
    generator._prices[False] = Prices({1: 1.0, 8: 1.2, 32: 2.0}, {"model": 0.01})
    kinds = set()
    stream = generator.stream(
        PROMPT,
        Request(params, max_new_tokens=40, seed=3, ignore_eos=True),
        watch=lambda done: kinds.add((done.draft.source, done.draft.is_chain)),
    )
    assert [t.id for t in stream] == answer
    assert len(kinds) > 1, kinds


@pytest.mark.parametrize("exactness", [Exactness.BITWISE, Exactness.DISTRIBUTION])
def test_other_levels_agree_with_plain_when_greedy(exactness):
    target = tiny.target()
    answer = decode_plainly(target, TextSequence(PROMPT, SamplingParams(), Noise(0, True)), 30)
    request = Request(max_new_tokens=30, exactness=exactness, ignore_eos=True, seed=0, draft_len=5)
    for name, drafter in drafters(target, answer).items():
        result = Generator(target, drafter).generate(PROMPT, request)
        assert [t.id for t in result.tokens] == answer, name


def test_bitwise_sampled_text_is_the_same_token_for_token():
    target = tiny.target()
    request = Request(
        SamplingParams(temperature=0.8),
        300,
        seed=11,
        draft_len=5,
        exactness=Exactness.BITWISE,
        ignore_eos=True,
    )
    plain = Generator(target).generate(PROMPT, request)
    for drafter in (NgramDrafter(1, 3), ModelDrafter(tiny.target(seed=5), tiny.VOCAB)):
        drafted = Generator(target, drafter).generate(PROMPT, request)
        assert [t.id for t in drafted.tokens] == [t.id for t in plain.tokens]


def test_the_draft_cache_has_no_hole():
    """After a round kept whole the last drafted token must reach the draft's cache.

    Otherwise its next laws are those of a text with a token missing and acceptance drops in
    silence; here the draft equals the target, so anything under 1 is a hole.
    """
    target, twin = tiny.target(), tiny.target()
    fed = []
    score = twin.score
    twin.score = lambda batch: fed.append(len(batch[0].tokens)) or score(batch)
    params = SamplingParams(temperature=1.0)
    request = Request(params, 60, seed=1, draft_len=3, ignore_eos=True)
    result = Generator(target, ModelDrafter(twin, tiny.VOCAB)).generate(PROMPT, request)
    assert result.stats.acceptance_rate == 1.0
    assert fed[0] == len(PROMPT)
    assert set(fed[1:]) == {1, 2}, "each token is evaluated once"
    assert sum(fed) <= len(PROMPT) + 60 + 3


def test_eos_inside_an_accepted_run_ends_the_text_there():
    plain = tiny.target(eos=())
    answer = decode_plainly(plain, TextSequence(PROMPT, SamplingParams(), Noise(0, True)), 12)
    end = answer.index(next(t for i, t in enumerate(answer) if t not in answer[:i] and i >= 2))
    target = tiny.target(eos=(answer[end],))
    result = Generator(target, Oracle(answer)).generate(PROMPT, Request(draft_len=8))
    assert [t.id for t in result.tokens] == answer[: end + 1]
    assert result.finish_reason == "eos"
    stats = result.stats
    assert stats.accepted == end + 1
    assert stats.drafted == stats.accepted + stats.rejected + stats.ignored
    assert stats.rejected == 0, "what follows the end was never judged"


def test_a_stop_string_may_span_tokens_and_sit_inside_a_run():
    target = tiny.target(eos=())
    answer = decode_plainly(target, TextSequence(PROMPT, SamplingParams(), Noise(0, True)), 20)
    text = target.tokenizer.decode(answer)
    stop = text[5:8]
    for drafters in ((), (Oracle(answer),), (Oracle(answer, wrong=1),)):
        result = Generator(target, *drafters).generate(
            PROMPT, Request(stop=(stop, "never"), draft_len=6, max_new_tokens=20)
        )
        assert result.text == text[: text.index(stop)]
        assert "".join(t.text for t in result.tokens) == result.text
        assert result.finish_reason == "stop"


def test_max_tokens_and_context_are_never_passed():
    target = tiny.target(eos=())
    answer = decode_plainly(target, TextSequence(PROMPT, SamplingParams(), Noise(0, True)), 10)
    result = Generator(target, Oracle(answer)).generate(
        PROMPT, Request(max_new_tokens=3, draft_len=5)
    )
    assert (len(result.tokens), result.finish_reason) == (3, "length")
    short = tiny.target(eos=(), max_position_embeddings=16)
    for drafters in ((), (NgramDrafter(1, 3),), (ModelDrafter(short, tiny.VOCAB),)):
        result = Generator(short, *drafters).generate(
            PROMPT, Request(max_new_tokens=100, draft_len=5)
        )
        assert len(result.tokens) == 16 - len(PROMPT)
        assert result.finish_reason == "context"


def test_an_abandoned_stream_leaves_a_valid_cache():
    target = tiny.target(eos=())
    generator = Generator(target, NgramDrafter(1, 3))
    request = Request(max_new_tokens=30, seed=0)
    expected = [t.id for t in Generator(target).generate(PROMPT, request).tokens]
    for taken in (1, 2, 7):
        stream = generator.stream(PROMPT, request)
        assert [next(stream).id for _ in range(taken)] == expected[:taken]
        stream.close()
        assert stream.result.finish_reason is None
    assert [t.id for t in generator.generate(PROMPT, request).tokens] == expected


def test_a_second_turn_reads_only_its_new_tokens():
    target = tiny.target(eos=())
    generator = Generator(target)
    first = generator.generate(PROMPT, Request(max_new_tokens=10))
    read = []
    turn = [*PROMPT, *(t.id for t in first.tokens), 5, 6]
    stream = generator.stream(turn, Request(max_new_tokens=5, seed=0), progress=read.append)
    again = [t.id for t in stream]
    assert read == [len(turn) - 1]
    fresh = Generator(target).generate(turn, Request(max_new_tokens=5, seed=0))
    assert again == [t.id for t in fresh.tokens]


def test_logprobs_come_from_p():
    target = tiny.target(eos=())
    for drafters in ((), (NgramDrafter(1, 3),)):
        for params in (SamplingParams(), SamplingParams(temperature=0.5)):
            request = Request(params, 12, seed=2, logprobs=3, draft_len=5)
            result = Generator(target, *drafters).generate(PROMPT, request)
            text = TextSequence(PROMPT, params, Noise(2, True))
            for token in result.tokens:
                p = text.law(
                    _logits(target, text.tokens), params=SamplingParams(params.temperature or 1.0)
                )
                assert token.logprob == pytest.approx(math.log(p[token.id]), abs=1e-4)
                assert len(token.top_logprobs) == 3
                assert max(token.top_logprobs, key=token.top_logprobs.get) == int(np.argmax(p))
                text.tokens.append(token.id)
            assert all(t.logprob < 0 for t in result.tokens)


def _logits(target, tokens):
    from foredraft.targets.base import Rows

    return target.score([Rows(target.open(), tokens)])[0][-1]


def test_seed_is_reported_and_reproduces():
    target = tiny.target(eos=())
    request = Request(SamplingParams(temperature=1.0), 20)
    first = Generator(target).generate(PROMPT, request)
    again = Generator(target).generate(
        PROMPT, Request(SamplingParams(temperature=1.0), 20, seed=first.seed)
    )
    assert [t.id for t in first.tokens] == [t.id for t in again.tokens]


def test_plain_step_is_measured_even_when_every_round_drafts():
    target = tiny.target(eos=())
    answer = decode_plainly(target, TextSequence(PROMPT, SamplingParams(), Noise(0, True)), 30)
    result = Generator(target, Oracle(answer)).generate(
        PROMPT, Request(max_new_tokens=30, draft_len=5)
    )
    assert result.plain_step_s > 0
    assert result.speedup == pytest.approx(result.stats.tokens_per_s * result.plain_step_s)


@pytest.mark.parametrize(
    ("prompt", "request_", "sentence"),
    [
        ([], {}, "prompt is empty"),
        ("", {}, "prompt is empty"),
        ([1] * 512, {}, "context"),
        ([99], {}, "outside the model's vocabulary"),
        ([1, 2.5], {}, "neither text"),
        ([{"role": "user", "content": "a"}, 1], {}, "neither text"),
        ([1], {"draft_len": -1}, "γ"),
        ([1], {"draft_len": 512}, "context"),
        ([1], {"max_new_tokens": 0}, "max_new_tokens"),
        ([1], {"stop": ("",)}, "stop string"),
        ([1], {"seed": -1}, "seed"),
        ([1], {"logprobs": -1}, "logprobs"),
    ],
)
def test_bad_requests_say_what_is_wrong(prompt, request_, sentence):
    with pytest.raises(ForedraftError, match=sentence):
        Generator(tiny.target()).generate(prompt, Request(**request_))


def test_bitwise_is_refused_where_it_cannot_be_promised():
    with pytest.raises(ForedraftError, match="bitwise"):
        Generator(tiny.target("qwen3_next")).generate([1], Request(exactness=Exactness.BITWISE))
    with pytest.raises(ForedraftError, match="recurrent"):
        ModelDrafter(tiny.target("qwen3_next"), tiny.VOCAB)


@pytest.mark.parametrize("kind", ["llama", "qwen3_next"])
def test_an_error_between_score_and_commit_leaves_a_valid_cache(kind):
    """Recurrent state had moved on by the rows of the failed pass, and the next text was wrong."""
    target = tiny.target(kind, eos=())
    generator = Generator(target)
    with pytest.raises(ForedraftError, match="vocabulary ends"):
        generator.generate(PROMPT, Request(SamplingParams(logit_bias={99: 1.0})))
    request = Request(max_new_tokens=12, seed=0)
    fresh = Generator(tiny.target(kind, eos=())).generate(PROMPT, request)
    assert generator.generate(PROMPT, request).tokens == fresh.tokens


def test_a_draft_that_knows_no_allowed_token_only_ends_drafting():
    """It used to end the request, though plain decoding has tokens to choose from."""
    target = tiny.target(eos=())
    draft = ModelDrafter(tiny.target(vocab_size=28), tiny.VOCAB)
    params = SamplingParams(temperature=1.0, allowed_tokens=[29, 30])
    request = Request(params, 8, seed=0, draft_len=5)
    drafted, plain = (Generator(target, *d).generate(PROMPT, request) for d in ([draft], []))
    assert [t.id for t in drafted.tokens] == [t.id for t in plain.tokens]
    with pytest.raises(ForedraftError, match="outside the vocabulary"):
        Generator(target, draft).generate(PROMPT, Request(SamplingParams(allowed_tokens=[3, 99])))


def test_token_ids_may_be_numpys():
    """They were left out of the prompt in silence: np.int64 is no int."""
    target = tiny.target(eos=())
    request = Request(max_new_tokens=4, seed=0)
    made = Generator(target).generate(np.array(PROMPT), request)
    assert made.tokens == Generator(target).generate(PROMPT, request).tokens
