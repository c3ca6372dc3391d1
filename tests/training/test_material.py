"""Gathering: the target's own prompts and answers, resumed, bounded, kept from the judges."""

from pathlib import Path
from typing import Any

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.rivals.prompts import Sample
from foredraft.targets.torch_hf import TorchTarget
from foredraft.training.data import Chat
from foredraft.training.gather import Amount, Ended
from foredraft.training.learn import Kind
from foredraft.training.material import Material, gathered, usual_taps
from foredraft.training.states import States
from tests.tiny import Characters, model, target
from tests.training.talkative import ASSISTANT, END, USER, Talkative

QUIET = lambda what, done, total: None  # noqa: E731
OWN = Material(judges=(), longest=12)


def talker(**changes: Any) -> TorchTarget:
    return TorchTarget(model(**changes), Talkative(), "tiny-talker")


def amount(tokens: int, space: int = 1 << 30, **more: Any) -> Amount:
    return Amount(tokens, space, at_once=8, **more)


def test_a_target_asks_itself_and_answers(tmp_path: Path) -> None:
    states, ended = gathered(talker(), Kind.EAGLE3, tmp_path, OWN, amount(300), QUIET)
    assert ended is Ended.ENOUGH
    assert 300 <= states.answer_tokens < 320
    texts = list(states.texts())
    for tokens, start in texts:
        assert tokens[0] == USER
        assert tokens[start - 2 : start] == [END, ASSISTANT]
        assert 1 <= len(tokens) - start <= 12
    prompts = [tuple(tokens[:start]) for tokens, start in texts]
    assert len(set(prompts)) == len(prompts)
    assert states.manifest.taps == usual_taps(talker()) == (0, 1)


def test_the_same_call_goes_on_and_nothing_comes_twice(tmp_path: Path) -> None:
    for wanted in (100, 250, 250):
        states, _ = gathered(talker(), Kind.MEDUSA, tmp_path, OWN, amount(wanted), QUIET)
    assert 250 <= states.answer_tokens < 270
    assert len(states.shards) == 2
    prompts = [tuple(tokens[:start]) for tokens, start in states.texts()]
    assert len(set(prompts)) == len(prompts)
    assert states.manifest.taps == ()


def test_states_with_taps_serve_a_draft_that_needs_none(tmp_path: Path) -> None:
    held, _ = gathered(talker(), Kind.EAGLE3, tmp_path, OWN, amount(60), QUIET)
    again, _ = gathered(talker(), Kind.MEDUSA, tmp_path, OWN, amount(60), QUIET)
    assert (again.manifest, again.answer_tokens) == (held.manifest, held.answer_tokens)


class Base(Characters):
    has_template = False

    def encode(self, text: str) -> list[int]:
        return []


def test_a_base_model_goes_on_with_texts_it_began(tmp_path: Path) -> None:
    base = TorchTarget(model(), Base(), "tiny-base")
    states, _ = gathered(base, Kind.SMALL, tmp_path, OWN, amount(100), QUIET)
    texts = list(states.texts())
    assert all(tokens[0] == 31 and start == 17 for tokens, start in texts)


def test_data_is_gone_through_once(tmp_path: Path) -> None:
    chats = [Chat([{"role": "user", "content": f"tell me of {w}"}], None) for w in "abcdefgh"]
    material = Material((), chats, longest=6)
    for _ in range(2):
        states, ended = gathered(talker(), Kind.SMALL, tmp_path, material, amount(999), QUIET)
        assert ended is Ended.NO_MORE
        assert len(list(states.texts())) == 8


def test_what_a_draft_is_judged_with_is_not_learnt(tmp_path: Path) -> None:
    said = "tell me of the sea and of the ships that sail on it"
    judge = Sample("a", "free", [{"role": "user", "content": said}])
    chats = [Chat([{"role": "user", "content": text}], None) for text in (said, "tell me of love")]
    states, _ = gathered(
        talker(), Kind.SMALL, tmp_path, Material([judge], chats, longest=6), amount(99), QUIET
    )
    assert len(list(states.texts())) == 1


def test_it_stops_where_the_space_or_the_time_ends(tmp_path: Path) -> None:
    small = amount(10_000, space=40_000)
    states, ended = gathered(talker(), Kind.SMALL, tmp_path / "a", OWN, small, QUIET)
    assert ended is Ended.NO_SPACE
    assert states.size <= 40_000
    late = amount(10_000, seconds=0.0)
    assert gathered(talker(), Kind.SMALL, tmp_path / "b", OWN, late, QUIET)[1] is Ended.NO_TIME


def test_a_full_disk_is_said_before(tmp_path: Path) -> None:
    huge = amount(1 << 50, space=1 << 60)
    with pytest.raises(ForedraftError, match=r"GB free, and hidden states of .* more tokens"):
        gathered(talker(), Kind.SMALL, tmp_path, OWN, huge, QUIET)


def test_ctrl_c_keeps_what_is_whole(tmp_path: Path) -> None:
    calls = 0

    def report(what: str, done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise KeyboardInterrupt

    states, ended = gathered(talker(), Kind.SMALL, tmp_path, OWN, amount(9999), report)
    assert ended is Ended.STOPPED
    assert len(list(States.open(tmp_path).texts())) == len(list(states.texts())) == 19


def test_taps_of_a_real_size() -> None:
    assert usual_taps(target(num_hidden_layers=28, hidden_size=8, num_attention_heads=2)) == (
        2,
        14,
        27,
    )
