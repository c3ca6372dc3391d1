"""Long texts of the real engine, caches and all, against the laws of one plain pass over them.

Four texts of 300 tokens a case, from fixed seeds; an exact engine fails a case once in 1000 seeds.
With n = 1,200 the surprise test shows a shift of 0.17 standard deviations of a token's surprise
99 times in 100, and `test_what_it_sees` shows what a temperature 15 % off amounts to.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Exactness, FloatArray
from foredraft.drafters.base import Drafter
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.targets.base import Rows
from foredraft.targets.torch_hf import TorchTarget
from tests import tiny
from tests.statistical.fit import FALSE_ALARM
from tests.statistical.surprise import Evidence, evidence, surprise

PROMPT = [1, 2, 3, 4, 1, 2, 3]
SEEDS, TOKENS = 4, 300
PARAMS = SamplingParams(
    temperature=0.8, top_k=12, top_p=0.9, repetition_penalty=1.2, presence_penalty=0.3
)


def relative() -> TorchTarget:
    """The target's weights with noise a fifth their size: a draft that is right half the time."""
    draft: TorchTarget = tiny.target(eos=())
    torch.manual_seed(9)
    with torch.no_grad():
        for weights in draft.model.parameters():
            if weights.dim() > 1:
                weights += 0.2 * weights.std() * torch.randn_like(weights)
    return draft


def plain_laws(target: TorchTarget, tokens: list[int]) -> list[FloatArray]:
    """The target's law of each token, from one pass over the whole text in a fresh cache."""
    (logits,) = target.score([Rows(target.open(), PROMPT + tokens)])
    sequence = TextSequence(PROMPT, PARAMS, Noise(0, coupled=True))
    return [sequence.law(logits[len(PROMPT) - 1 + i], tokens[:i]) for i in range(len(tokens))]


def judged(drafter: Drafter, exactness: Exactness) -> Evidence:
    target = tiny.target(eos=())
    generator = Generator(target, drafter)
    laws: list[FloatArray] = []
    tokens: list[int] = []
    accepted = rejected = 0
    for seed in range(SEEDS):
        request = Request(PARAMS, TOKENS, seed=seed, draft_len=4, exactness=exactness)
        result = generator.generate(PROMPT, request)
        text = [token.id for token in result.tokens]
        laws += plain_laws(target, text)
        tokens += text
        accepted += result.stats.accepted
        rejected += result.stats.rejected
    assert len(tokens) == SEEDS * TOKENS
    assert min(accepted, rejected) > 50, "both must happen often"
    return evidence(laws, tokens, np.random.default_rng(0))


@pytest.mark.parametrize("exactness", [Exactness.DISTRIBUTION, Exactness.COUPLED])
@pytest.mark.parametrize("method", ["ngram", "sampled"])
def test_long_texts_follow_their_laws(method: str, exactness: Exactness) -> None:
    drafter = NgramDrafter(1, 4) if method == "ngram" else ModelDrafter(relative(), tiny.VOCAB)
    assert judged(drafter, exactness).p_value > FALSE_ALARM


def test_long_texts_with_a_greedy_draft() -> None:
    drafter = ModelDrafter(relative(), tiny.VOCAB, greedy=True)
    assert judged(drafter, Exactness.DISTRIBUTION).p_value > FALSE_ALARM


def random_laws(n: int, rng: np.random.Generator) -> list[FloatArray]:
    return list(rng.dirichlet(np.full(tiny.VOCAB, 0.3), size=n))


def draws(laws: list[FloatArray], rng: np.random.Generator) -> list[int]:
    return [int(rng.choice(law.size, p=law)) for law in laws]


def test_false_alarms_are_as_rare_as_stated() -> None:
    """500 honest texts of 100 tokens: at 5 % about 25 alarms or fewer; 45 is four sigmas off."""
    rng = np.random.default_rng(1)
    cases = [(laws, draws(laws, rng)) for laws in (random_laws(100, rng) for _ in range(500))]
    found = [evidence(laws, tokens, rng) for laws, tokens in cases]
    assert sum(item.p_value < 0.05 for item in found) < 45
    for z in ([item.surprise for item in found], [item.top for item in found]):
        assert np.mean(z) == pytest.approx(0, abs=5 / math.sqrt(500))
        assert np.std(z) == pytest.approx(1, abs=5 / math.sqrt(1000))


def colder(law: FloatArray) -> FloatArray:
    weights = law ** (1 / 0.85)
    return np.asarray(weights / weights.sum())


def truncated(law: FloatArray) -> FloatArray:
    order = np.argsort(-law)
    weights = law.copy()
    weights[order[int(np.searchsorted(law[order].cumsum(), 0.9)) + 1 :]] = 0
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("bug", [colder, truncated])
def test_what_it_sees(bug: Callable[[FloatArray], FloatArray]) -> None:
    """A temperature of 0.85 for 1, or a forgotten top-p of 0.9, in texts as long as those above."""
    rng = np.random.default_rng(2)
    laws = random_laws(SEEDS * TOKENS, rng)
    honest = draws(laws, rng)
    assert evidence(laws, honest, rng).p_value > FALSE_ALARM
    wrong = draws([bug(law) for law in laws], rng)
    assert evidence(laws, wrong, rng).p_value < FALSE_ALARM


def test_greedy_laws_and_impossible_tokens() -> None:
    certain = [np.array([0.0, 1.0, 0.0])] * 5
    assert surprise(certain, [1] * 5) == 0
    assert surprise(certain, [1, 1, 1, 1, 0]) == math.inf
    rng = np.random.default_rng(3)
    assert evidence(certain, [1] * 5, rng).p_value > FALSE_ALARM
    assert evidence(certain, [1, 1, 1, 1, 0], rng).p_value == 0
