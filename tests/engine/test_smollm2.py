"""A real model: drafting changes no token of its text, and the text is Transformers' own.

SmolLM2 135M Instruct in float32 on the CPU, the eight prompts of the benchmarks. About twenty
minutes on one core, and 90 MB of download the first time.
"""

import json
from typing import Any

import numpy as np
import pytest
import torch

from foredraft.core.sampling import SamplingParams
from foredraft.core.types import Exactness
from foredraft.drafters.base import Drafter
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.none import NoDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.rivals.prompts import EIGHT
from foredraft.targets.base import Rows
from foredraft.targets.torch_hf import TorchTarget, load_target
from foredraft.targets.weights import load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

NAME = "smollm2"

BITWISE_TOKENS = 128
"""A prompt: 8 prompts and two drafters compare 2,048 tokens."""
PLAIN_TOKENS = 80


@pytest.fixture(scope="module")
def target() -> TorchTarget:
    return load_target(NAME, dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def prompts(target: TorchTarget) -> dict[str, list[int]]:
    lines = [json.loads(line) for line in EIGHT.read_text("utf-8").splitlines()]
    return {line["id"]: target.tokenizer.chat(line["messages"]) for line in lines}


@pytest.fixture(scope="module")
def early_exit() -> TorchTarget:
    """The same weights without the last two layers of thirty: right about half the time."""
    draft = load_target(NAME, dtype="float32", device="cpu")
    draft.model.model.layers = draft.model.model.layers[:28]
    return draft


def texts(
    target: TorchTarget, drafter: Drafter, prompts: dict[str, list[int]], request: Request
) -> tuple[dict[str, list[int]], int, int]:
    """The tokens of each prompt's answer, and how many drafted ones were accepted and rejected."""
    generator = Generator(target, drafter)
    results = {name: generator.generate(prompt, request) for name, prompt in prompts.items()}
    tokens = {name: [token.id for token in result.tokens] for name, result in results.items()}
    stats = [result.stats for result in results.values()]
    return tokens, sum(s.accepted for s in stats), sum(s.rejected for s in stats)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_bitwise_text_does_not_depend_on_the_drafter(
    target: TorchTarget,
    early_exit: TorchTarget,
    prompts: dict[str, list[int]],
    temperature: float,
) -> None:
    request = Request(
        SamplingParams(temperature=temperature),
        BITWISE_TOKENS,
        seed=5,
        draft_len=3,
        exactness=Exactness.BITWISE,
        ignore_eos=True,
    )
    plain, _, _ = texts(target, NoDrafter(), prompts, request)
    assert sum(map(len, plain.values())) == BITWISE_TOKENS * len(prompts)
    for drafter in (NgramDrafter(), ModelDrafter(early_exit, target.vocab_size)):
        drafted, accepted, rejected = texts(target, drafter, prompts, request)
        rate = accepted / (accepted + rejected)
        print(f"\n{drafter.name} at {temperature}: α {rate:.2f}, {accepted} accepted")
        assert drafted == plain, drafter.name
        assert accepted > 50
        if drafter.name == "model":
            assert 0.3 < rate < 0.9


def test_greedy_text_is_that_of_transformers(
    target: TorchTarget, prompts: dict[str, list[int]]
) -> None:
    """Level `coupled`, plainly and drafted, against `generate` on the same weights unpacked.

    Where two texts part, the two best logits must be nearer than what the kernels' rounding
    moves a logit, measured on that very text.
    """
    model = load(NAME, torch.float32, torch.device("cpu")).model
    theirs = {name: _generated(model, ids) for name, ids in prompts.items()}
    request = Request(max_new_tokens=PLAIN_TOKENS, seed=0)
    for drafter in (NoDrafter(), NgramDrafter()):
        ours, _, _ = texts(target, drafter, prompts, request)
        same = 0
        for name, text in ours.items():
            pairs = enumerate(zip(text, theirs[name], strict=False))
            parted = next((i for i, (a, b) in pairs if a != b), None)
            same += len(text) if parted is None else parted
            if parted is None:
                assert text == theirs[name], f"{name}: one text goes on where the other ends"
                continue
            margin, noise = _near_tie(target, model, prompts[name] + text[:parted])
            print(f"\n{drafter.name}, {name}: token {parted}, margin {margin}, noise {noise}")
            assert margin < 2 * noise, name
        print(f"\n{drafter.name}: {same} tokens the same")
        assert same >= 500


def _generated(model: Any, prompt: list[int]) -> list[int]:
    ids = torch.tensor([prompt])
    out = model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=PLAIN_TOKENS
    )
    return out[0, len(prompt) :].tolist()  # type: ignore[no-any-return]


def _near_tie(target: TorchTarget, model: Any, text: list[int]) -> tuple[float, float]:
    """How far apart the two best logits after `text` are, and how far the kernels disagree."""
    with torch.inference_mode():
        theirs = model(torch.tensor([text])).logits[0].numpy()
    (ours,) = target.score([Rows(target.open(), text)])
    second, first = np.sort(theirs[-1])[-2:]
    return float(first - second), float(np.abs(ours - theirs).max())
