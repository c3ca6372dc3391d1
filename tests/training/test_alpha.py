"""α of drafts from every place of a text."""

import pytest
import torch

from foredraft.training.alpha import Drafted, alpha

P = torch.tensor([0.7, 0.2, 0.1])


def drafted(tokens: list[int], q: list[float]) -> list[Drafted]:
    """One drafting step over a text of p = P throughout, whose draft has the law q."""
    rows = len(tokens)
    return [Drafted.of(P.expand(rows, 3), torch.tensor(q).expand(rows, 3), torch.tensor(tokens))]


AGREES = [0.9, 0.1, 0.0]
DIFFERS = [0.1, 0.8, 0.1]


def test_likeliest_tokens_are_judged_on_texts_of_temperature_0_and_drawn_ones_on_the_others():
    """Both were judged on all: off the path that greedy decoding takes heads agree less."""
    greedy, drawn = drafted([0] * 8, AGREES), drafted([0, 1, 2, 1] * 2, DIFFERS)
    found = alpha([greedy, drawn], 1)
    assert found.greedy == pytest.approx((1.0,), abs=1e-5)
    assert found.sampled == pytest.approx((0.1 + 0.2 + 0.1,), abs=1e-5)
    assert found.judged == 16


def test_texts_of_one_kind_alone_judge_both():
    found = alpha([drafted([0, 1, 2, 1] * 2, AGREES)], 1)
    assert found.greedy == pytest.approx((1.0,))
    assert found.sampled == pytest.approx((0.7 + 0.1,))
