"""Many short texts from the whole engine on one tiny model, and the exact law they must follow."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from unittest.mock import patch

from foredraft.core import sampling
from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Exactness, FloatArray, IntArray, LogitArray
from foredraft.drafters.base import Drafter
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.none import NoDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.targets.base import Target
from foredraft.targets.torch_hf import TorchTarget
from tests import tiny
from tests.statistical.fit import p_value
from tests.statistical.remembered import Remembered
from tests.worlds import Text

TARGET, DRAFT = 2, 16
VOCAB = 6
EOS = 5
PROMPT = [0, 2, 1, 4, 0, 2]
"""Its ending was seen before: the n-gram drafter proposes 1, 4, 0, each likely enough."""
DRAFT_LEN = 3
LENGTH = DRAFT_LEN + 1
"""A draft kept whole and its bonus token make a text; every other text needs a second round."""
SEEN = (slice(0, 3), slice(2, LENGTH))
"""The parts of a text whose joint laws are tested: its first three tokens and its last two."""


@cache
def tiny_model(seed: int) -> TorchTarget:
    """A random one-layer model; TARGET and DRAFT are seeds whose laws overlap by about 0.7."""
    made: TorchTarget = tiny.target(
        seed=seed,
        eos=(EOS,),
        vocab_size=VOCAB,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
    )
    return made


@cache
def remembered(seed: int) -> Remembered:
    return Remembered(tiny_model(seed))


DRAFTERS: dict[str, Callable[[], Drafter]] = {
    "none": NoDrafter,
    "ngram": lambda: NgramDrafter(1, 4),
    "sampled": lambda: ModelDrafter(remembered(DRAFT), VOCAB),
    "greedy": lambda: ModelDrafter(remembered(DRAFT), VOCAB, greedy=True),
    "until unsure": lambda: ModelDrafter(remembered(DRAFT), VOCAB, least=0.2),
}
SETTINGS = {
    "t0.7": SamplingParams(temperature=0.7),
    "t1": SamplingParams(temperature=1.0),
    "top-k": SamplingParams(temperature=1.0, top_k=3),
    "top-p": SamplingParams(temperature=0.7, top_p=0.8),
    "min-p": SamplingParams(temperature=1.0, min_p=0.3),
    "penalties": SamplingParams(
        temperature=0.7, repetition_penalty=1.5, presence_penalty=0.5, frequency_penalty=0.5
    ),
    "masks": SamplingParams(temperature=1.0, logit_bias={EOS: 1.5}, min_tokens=2),
}


@dataclass
class Runs:
    """Texts and what became of their drafts."""

    texts: list[Text] = field(default_factory=list)
    accepted: int = 0
    rejected: int = 0
    whole: int = 0  # rounds that kept all of a longest draft
    drafted: int = 0


def generate(
    drafter: Drafter,
    params: SamplingParams,
    exactness: Exactness,
    n: int,
    target: Target | None = None,
) -> Runs:
    """n texts, the i-th from seed i."""
    runs = Runs()
    generator = Generator(target or remembered(TARGET), drafter)
    with laws_remembered():
        for seed in range(n):
            result = generator.generate(
                PROMPT, Request(params, LENGTH, seed=seed, draft_len=DRAFT_LEN, exactness=exactness)
            )
            runs.texts.append(tuple(token.id for token in result.tokens))
            runs.drafted += result.stats.drafted
            runs.accepted += result.stats.accepted
            runs.rejected += result.stats.rejected
            runs.whole += result.stats.lengths.get(DRAFT_LEN, 0)
    return runs


def joint(params: SamplingParams, target: Remembered | None = None) -> dict[Text, float]:
    """The law of a whole text: every text there is, token by token, from the model's own logits."""
    target, law = target or remembered(TARGET), dict[Text, float]()
    open_texts: dict[Text, float] = {(): 1.0}
    while open_texts:
        text, mass = open_texts.popitem()
        if len(text) == LENGTH or EOS in text:
            law[text] = mass
            continue
        sequence = TextSequence(PROMPT, params, Noise(0, coupled=True), {EOS})
        sequence.tokens += text
        p = sequence.law(target.after(tuple(sequence.tokens)))
        open_texts |= {(*text, token): mass * p[token] for token in range(VOCAB) if p[token] > 0}
    return law


def fit(texts: list[Text], params: SamplingParams, target: Remembered | None = None) -> float:
    """The p-value of texts against their exact law: the least over SEEN, times their number."""
    law, worst = joint(params, target), 1.0
    for part in SEEN:
        expected: dict[Text, float] = defaultdict(float)
        for text, mass in law.items():
            expected[text[part]] += mass
        worst = min(worst, p_value(Counter(text[part] for text in texts), expected))
    return min(1.0, worst * len(SEEN))


@contextmanager
def laws_remembered() -> Iterator[None]:
    """Compute each law once: it is a pure function of its arguments, all of which are compared."""
    known: dict[object, tuple[SamplingParams, FloatArray]] = {}

    def law(
        logits: LogitArray,
        params: SamplingParams,
        prompt: IntArray,
        output: IntArray,
        eos: Collection[int] = (),
    ) -> FloatArray:
        key = (logits.tobytes(), id(params), prompt.tobytes(), output.tobytes(), frozenset(eos))
        if key not in known:
            made = sampling.law(logits, params, prompt, output, eos)
            made.flags.writeable = False
            known[key] = (params, made)  # keeps params alive, so that its id stays its own
        return known[key][1]

    with patch("foredraft.core.sequence.law", law):
        yield
