"""From hidden states to a draft: it learns, goes on where it was, and is what was judged."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foredraft.training.learn import Kind, Options, learn
from foredraft.training.loop import Course
from foredraft.training.small import Size
from tests.tiny import VOCAB, target
from tests.training.lessons import states

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
