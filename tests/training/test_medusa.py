"""Medusa heads: what they learn of tokens that never occur."""

import pytest
import torch

from foredraft.training import medusa
from foredraft.training.medusa import MedusaTrainee
from foredraft.training.teacher import Teacher
from tests.tiny import VOCAB, target
from tests.training.lessons import counting


def share_of_others() -> float:
    """What a head that learnt to count below half of the vocabulary gives to the other half."""
    torch.manual_seed(0)
    teacher = target()
    texts = [counting(teacher, i % 5, 1, 2, 10) for i in range(10)]
    learner = MedusaTrainee(Teacher(teacher), torch.arange(VOCAB // 2), 2)
    optimizer = torch.optim.AdamW(learner.network.parameters(), lr=0.02)
    for _ in range(40):
        optimizer.zero_grad()
        learner.loss(texts).backward()
        optimizer.step()
    with torch.no_grad():
        hidden = torch.cat([learner._last(text) for text in texts])
        q = learner._heads[0](hidden, learner._others).softmax(1)
    return float(q[:, VOCAB // 2 :].sum(1).mean())


def test_tokens_that_never_occur_are_not_drafted() -> None:
    """Engines let all output rows compete, and those that did not learn won: α fell to a quarter
    of what training had promised."""
    assert share_of_others() < 0.05


def test_without_the_others_in_the_softmax_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(medusa, "_OTHERS", 0)
    assert share_of_others() > 0.1
