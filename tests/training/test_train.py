"""From a target to a draft and an opinion on it: the whole way, on a tiny model."""

from pathlib import Path
from typing import Any

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.planner.plan import Plan, Verdict
from foredraft.rivals.prompts import Sample
from foredraft.targets.torch_hf import TorchTarget
from foredraft.training.gather import Amount
from foredraft.training.learn import Kind
from foredraft.training.lesson import Curriculum, Lesson
from foredraft.training.material import Material
from foredraft.training.train import drafter_of, train
from tests.tiny import model
from tests.training.talkative import Talkative

QUIET = lambda what, done, total: None  # noqa: E731
JUDGES = [Sample("a", "free", [{"role": "user", "content": "to be or not to be or not to"}])]
MATERIAL = Material(JUDGES, longest=16)
AMOUNT = Amount(1500, 1 << 30, seconds=60.0)


@pytest.fixture(scope="module")
def talker() -> TorchTarget:
    return TorchTarget(model(), Talkative(), "tiny-talker")


@pytest.mark.parametrize("kind", [Kind.EAGLE3, Kind.MEDUSA])
def test_a_draft_is_made_judged_and_not_made_again(
    kind: Kind, talker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    curriculum = Curriculum(kind, epochs=2, steps=2, vocabulary=24)
    made = train(talker, curriculum, MATERIAL, AMOUNT, tmp_path / "states", tmp_path, QUIET)
    assert made.lesson == Lesson.read(tmp_path)
    assert made.lesson.answer_tokens >= 1500
    assert 0.5 < made.lesson.coverage <= 1
    assert len(made.lesson.alpha.greedy) == 2
    assert (made.choice.draft, made.choice.drafter) == (str(tmp_path), kind.value)
    assert made.choice in made.plan.rows
    assert made.verdict in Verdict
    told = made.to_dict()
    assert told["predicted_speedup"] == made.choice.predicted_speedup
    assert Plan.from_dict(told["judged"]) == made.plan

    def never(*_: Any) -> None:
        raise AssertionError("it was learnt already")

    monkeypatch.setattr("foredraft.training.lesson.learn", never)
    again = train(talker, curriculum, MATERIAL, AMOUNT, tmp_path / "states", tmp_path, QUIET)
    assert again.lesson == made.lesson


def test_a_made_draft_does_not_change_the_text(talker: Any, tmp_path: Path) -> None:
    curriculum = Curriculum(Kind.EAGLE3, epochs=1, steps=2, vocabulary=24)
    train(talker, curriculum, MATERIAL, AMOUNT, tmp_path / "states", tmp_path, QUIET)
    prompt, request = [29, 4, 5, 31, 30], Request(max_new_tokens=40, draft_len=2, ignore_eos=True)
    drafting = Generator(talker, drafter_of(talker, Kind.EAGLE3, tmp_path))
    made, plain = (one.generate(prompt, request) for one in (drafting, Generator(talker)))
    assert [token.id for token in made.tokens] == [token.id for token in plain.tokens]
    assert made.stats.drafted > 0


def test_too_little_to_validate_with_is_a_sentence(talker: Any, tmp_path: Path) -> None:
    few = Amount(20, 1 << 30, seconds=60.0)
    with pytest.raises(ForedraftError, match="too few to hold any out"):
        train(talker, Curriculum(Kind.MEDUSA), MATERIAL, few, tmp_path / "states", tmp_path, QUIET)


def test_what_is_told_of_another_lesson_is_no_lesson(tmp_path: Path) -> None:
    assert Lesson.read(tmp_path) is None
    (tmp_path / "training.json").write_text('{"plan": 3}')
    assert Lesson.read(tmp_path) is None
