"""From hidden states to a draft: it learns, goes on where it was, and is what was judged."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from foredraft.core.types import ROOT
from foredraft.heads.load import load_head
from foredraft.training.eagle3 import Eagle3Trainee
from foredraft.training.learn import Kind, Options, learn
from foredraft.training.loop import Course
from foredraft.training.small import Size
from foredraft.training.teacher import Teacher
from tests.tiny import VOCAB, target
from tests.training.lessons import TAPS, states
from tests.training.test_eagle3 import Kept

QUIET = lambda what, done, total: None  # noqa: E731
COURSE = Course(epochs=3, batch=60)


def options(kind: Kind, folder: Path, course: Course = COURSE) -> Options:
    return Options(kind, folder, np.arange(1, VOCAB - 1), course, steps=2, size=Size(32, 1))


@pytest.fixture(scope="module")
def teacher() -> Any:
    return target()


@pytest.mark.parametrize(("kind", "least"), [(Kind.EAGLE3, 0.8), (Kind.MEDUSA, 0.4)])
def test_a_head_learns(kind: Kind, least: float, teacher: Any, tmp_path: Path) -> None:
    """Medusa's last hidden state does not tell in which steps the text counts."""
    held = states(teacher, tmp_path / "states")
    trained = learn(held, teacher, options(kind, tmp_path / "head", Course(12, batch=60)), QUIET)
    assert len(trained.alphas) == 12
    assert trained.alpha.greedy[0] > least
    assert trained.alpha.length > 1.2 * trained.alphas[0].length
    assert {path.name for path in trained.folder.iterdir()} == {"config.json", "model.safetensors"}


@pytest.mark.parametrize("kind", [Kind.EAGLE3, Kind.MEDUSA])
def test_a_target_in_bfloat16_teaches(kind: Kind, tmp_path: Path) -> None:
    """Its last layer was given float32 rows; where bfloat16 is usual, no training began."""
    teacher: Any = target()
    teacher.model.bfloat16()
    held = states(teacher, tmp_path / "states")
    trained = learn(held, teacher, options(kind, tmp_path / "head", Course(1, batch=60)), QUIET)
    assert trained.alpha.judged > 0


@pytest.mark.parametrize("kind", [Kind.EAGLE3, Kind.MEDUSA])
def test_what_was_stopped_goes_on_to_the_same_weights(
    kind: Kind, teacher: Any, tmp_path: Path
) -> None:
    held = states(teacher, tmp_path / "states")
    learn(held, teacher, options(kind, tmp_path / "whole"), QUIET)
    steps = 0

    def interrupt(what: str, done: int, total: int) -> None:
        nonlocal steps
        steps += 1
        if steps in (3, 17):
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            learn(held, teacher, options(kind, tmp_path / "parts"), interrupt)
        assert (tmp_path / "parts/checkpoint.pt").exists()
    learn(held, teacher, options(kind, tmp_path / "parts"), interrupt)
    whole, parts = (tmp_path / name / "model.safetensors" for name in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes()


def test_a_published_head_drafts_what_was_judged(teacher: Any, tmp_path: Path) -> None:
    """Loaded beside its target and given the same hidden states: the same logits."""
    held = states(teacher, tmp_path / "states")
    made = options(Kind.EAGLE3, tmp_path / "head")
    trainee = Eagle3Trainee.begin(Teacher(teacher), held, torch.from_numpy(made.vocabulary), 2)
    for weight in trainee.network.parameters():
        weight.data += 0.05 * torch.randn_like(weight)
    trainee.publish(tmp_path / "head")
    head = load_head(str(tmp_path / "head"), teacher)
    example = next(held.examples())
    width = len(TAPS) * held.manifest.hidden_size
    kept = Kept(example.hidden[:, :width].float())
    with torch.no_grad():
        outs = trainee._unrolled([example], 0)
        learnt = [trainee.network.lm_head(out[0]).numpy() for out in outs]
    state, read = head.open(), 6
    text = example.tokens.tolist()
    drafted = [state.read(kept, text[:read]), state.grow([text[read]], [ROOT])[0]]
    assert head.taps == TAPS
    for step, logits in enumerate(drafted):
        assert np.isneginf(logits[[0, VOCAB - 1]]).all()
        np.testing.assert_allclose(logits[made.vocabulary], learnt[step][read - 2], atol=0.05)
