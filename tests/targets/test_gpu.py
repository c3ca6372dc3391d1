"""The same promises on a CUDA device; run with `pytest -m gpu` where there is one."""

import numpy as np
import pytest
import torch

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Exactness
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.reference import decode_plainly
from foredraft.engine.request import Request
from foredraft.targets.base import Rows
from tests import tiny

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
PROMPT = [1, 2, 3, 4, 1, 2, 3]


def on_gpu(kind, seed=0, dtype=torch.float32):
    target = tiny.target(kind, seed)
    target.model.to("cuda", dtype)
    return target


@pytest.mark.parametrize("kind", ["llama", "gemma3", "qwen3_next"])
def test_rows_match_the_cpu(kind):
    tokens = [(7 * i) % 31 for i in range(24)]
    left, right = (t.score([Rows(t.open(), tokens)])[0] for t in (tiny.target(kind), on_gpu(kind)))
    np.testing.assert_allclose(left, right, atol=2e-3)


@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_sequences_share_a_pass(kind):
    target = on_gpu(kind)
    assert target._mixes
    shapes, batch = [(-1,), (-1, 0, 0, 1), (-1, 0, 1)], []
    for n, parents in enumerate(shapes):
        sequence = target.open()
        target.prefill(sequence, [(7 * i + n) % 31 for i in range(5 + 10 * n)])
        batch.append(Rows(sequence, [(3 * i + n) % 31 for i in range(len(parents))], parents))
    for rows, logits in zip(batch, target.score(batch), strict=True):
        target.commit(rows.sequence, [])
        np.testing.assert_allclose(logits, target.score([rows])[0], atol=2e-3)


@pytest.mark.parametrize("kind", ["llama", "gemma3", "qwen3_next"])
def test_text_does_not_depend_on_the_drafter(kind):
    target, params = on_gpu(kind), SamplingParams(temperature=0.8, top_p=0.9)
    answer = decode_plainly(target, TextSequence(PROMPT, params, Noise(3, True)), 30)
    request = Request(params, 30, seed=3, ignore_eos=True)
    for drafter in (None, NgramDrafter(1, 3), ModelDrafter(on_gpu("llama", 5), tiny.VOCAB)):
        result = Generator(target, drafter).generate(PROMPT, request)
        assert [token.id for token in result.tokens] == answer


def test_bitwise_where_the_device_can():
    target = on_gpu("llama", dtype=torch.bfloat16)
    if not target.bit_stable:
        pytest.skip("this device's kernels are not row-stable")
    request = Request(
        SamplingParams(temperature=0.8), 200, seed=1, exactness=Exactness.BITWISE, ignore_eos=True
    )
    plain = Generator(target).generate(PROMPT, request)
    drafted = Generator(target, NgramDrafter(1, 3)).generate(PROMPT, request)
    assert [t.id for t in plain.tokens] == [t.id for t in drafted.tokens]
