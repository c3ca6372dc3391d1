"""The whole engine on llama.cpp: the drafter must never change the text."""

import pytest

pytest.importorskip("llama_cpp")

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft, Exactness
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.none import NoDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.reference import decode_plainly
from foredraft.engine.request import Request
from foredraft.targets.torch_hf import TorchTarget
from tests.targets import tiny_llama

PROMPT = [1, 2, 3, 4, 1, 2, 3]
SETTINGS = {"greedy": SamplingParams(), "t0.7": SamplingParams(temperature=0.7)}


class Oracle(NoDrafter):
    """Knows the answer: a chain whose last token is spoiled, or each token with a sibling."""

    name = "oracle"

    def __init__(self, answer, forks=False):
        self.answer, self.forks = answer, forks

    def propose(self, sequence, limit, stop=None):
        done = len(sequence.output)
        right = self.answer[done : done + limit]
        wrong = [(token + 1) % 300 for token in right]
        if not self.forks:
            return Draft.chain([*right[:-1], *wrong[-1:]], source=self.name)
        tokens, parents = [], []
        for i, pair in enumerate(zip(right, wrong, strict=True)):
            tokens += pair if i % 2 else pair[::-1]
            parents += [-1, -1] if i == 0 else [2 * i - 2 + (i % 2)] * 2
        return Draft(tuple(tokens), tuple(parents), None, self.name)


def drafters(target, answer):
    yield NoDrafter()
    yield NgramDrafter(1, 4)
    yield Oracle(answer)
    yield ModelDrafter(tiny_llama.target("llama", seed=5), target.vocab_size)
    if target.capabilities.trees:
        yield Oracle(answer, forks=True)


@pytest.mark.parametrize("kind", ["llama", "qwen3", "gemma3", "lfm2"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_text_does_not_depend_on_the_drafter(kind, settings):
    target, params = tiny_llama.target(kind), SETTINGS[settings]
    answer = decode_plainly(target, TextSequence(PROMPT, params, Noise(3, True)), 24)
    request = Request(params, max_new_tokens=24, seed=3, draft_len=5, ignore_eos=True)
    for drafter in drafters(target, answer):
        result = Generator(target, drafter).generate(PROMPT, request)
        assert [token.id for token in result.tokens] == answer, drafter.name
        if isinstance(drafter, Oracle):
            assert result.stats.accepted >= (15 if drafter.forks else 16), "paths are kept"


@pytest.mark.parametrize("kv", ["f32", "f16"])
def test_bitwise_sampled_text_is_the_same_token_for_token(kv):
    target = tiny_llama.target(kv=kv)
    if not target.bit_stable:
        pytest.skip("this machine's kernels are not row-stable for this model")
    request = Request(
        SamplingParams(temperature=0.8),
        300,
        seed=11,
        exactness=Exactness.BITWISE,
        draft_len=3,
        ignore_eos=True,
    )
    plain = Generator(target).generate(PROMPT, request)
    for drafter in (
        NgramDrafter(1, 3),
        Oracle([token.id for token in plain.tokens]),
        ModelDrafter(tiny_llama.target(seed=5), target.vocab_size),
    ):
        drafted = Generator(target, drafter).generate(PROMPT, request)
        assert [t.id for t in drafted.tokens] == [t.id for t in plain.tokens]


def test_a_draft_may_run_on_the_other_engine():
    target = tiny_llama.target()
    twin = TorchTarget(tiny_llama.original("llama"), target.tokenizer, "twin")
    request = Request(SamplingParams(temperature=1.0), 40, seed=1, draft_len=4, ignore_eos=True)
    for one, other in ((target, twin), (twin, target)):
        result = Generator(one, ModelDrafter(other, one.vocab_size)).generate(PROMPT, request)
        assert result.stats.acceptance_rate == 1.0, "the same model, the same noise"


def test_a_second_turn_reads_only_its_new_tokens():
    generator = Generator(tiny_llama.target(), NgramDrafter(1, 3))
    first = generator.generate(PROMPT, Request(max_new_tokens=10, draft_len=4))
    turn, read = [*PROMPT, *(t.id for t in first.tokens), 5, 6], []
    stream = generator.stream(turn, Request(max_new_tokens=5, seed=0, draft_len=4), read.append)
    again = [t.id for t in stream]
    assert read == [len(turn) - 1]
    fresh = Generator(tiny_llama.target()).generate(turn, Request(max_new_tokens=5, seed=0))
    assert again == [t.id for t in fresh.tokens]


def test_max_tokens_and_context_are_never_passed():
    target = tiny_llama.target(context=40)
    for drafter in ([], [NgramDrafter(1, 3)]):
        result = Generator(target, *drafter).generate(
            PROMPT, Request(max_new_tokens=100, draft_len=5)
        )
        assert len(result.tokens) == 40 - len(PROMPT)
        assert result.finish_reason == "context"
