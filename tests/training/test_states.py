"""Hidden states come back from disk as they were put there, and belong to one target."""

from pathlib import Path

import pytest
import torch

from foredraft.core.errors import ForedraftError
from foredraft.training.states import Example, Manifest, States
from tests.tiny import target

WIDTH = 3 * 32


def example(seed: int, length: int = 6) -> Example:
    chance = torch.Generator().manual_seed(seed)
    tokens = torch.randint(32, (length,), generator=chance)
    return Example(tokens, 2, torch.randn(length, WIDTH, generator=chance).half())


def made(folder: Path, seed: int = 0) -> States:
    return States.make(folder, Manifest.of(target(), (0, 1), seed))


def same(one: Example, other: Example) -> bool:
    return (
        torch.equal(one.tokens, other.tokens)
        and one.answer_from == other.answer_from
        and torch.equal(one.hidden, other.hidden)
    )


def test_examples_come_back(tmp_path: Path) -> None:
    states = made(tmp_path)
    examples = [example(i, 4 + i % 5) for i in range(200)]
    states.add(examples[:120])
    states.add(examples[120:])
    found = States.open(tmp_path)
    assert found.answer_tokens == states.answer_tokens == sum(len(e.tokens) - 2 for e in examples)
    assert found.size == states.size == sum(f.stat().st_size for f in tmp_path.glob("*.safet*"))
    both = [*found.examples(), *found.examples(held_out=True)]
    assert len(both) == 200
    assert sum(one.held_out for one in both) == len(list(found.examples(held_out=True))) > 2
    learnt = [one for one in examples if not one.held_out]
    assert all(map(same, found.examples(), learnt))
    assert [(tokens, 2) for tokens in (e.tokens.tolist() for e in examples)] == list(found.texts())


def test_a_seed_gives_an_order_of_its_own(tmp_path: Path) -> None:
    states = made(tmp_path)
    for first in range(0, 60, 20):
        states.add([example(i) for i in range(first, first + 20)])

    def order(seed: int | None) -> list[list[int]]:
        return [one.tokens.tolist() for one in states.examples(seed=seed)]

    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == sorted(order(None))


def test_answers_to_one_prompt_are_on_the_same_side() -> None:
    prompt = torch.tensor([4, 9])
    answers = [
        Example(torch.cat([prompt, example(i).tokens]), 2, torch.zeros(8, WIDTH)) for i in range(9)
    ]
    assert len({one.held_out for one in answers}) == 1


def test_another_target_taps_or_seed_are_refused(tmp_path: Path) -> None:
    made(tmp_path)
    made(tmp_path)  # the same is welcome
    with pytest.raises(ForedraftError, match="another target, tiny-llama"):
        States.make(tmp_path, Manifest.of(target(seed=3), (0, 1), 0))
    with pytest.raises(ForedraftError, match="the taps 0, 1; name another --out"):
        States.make(tmp_path, Manifest.of(target(), (1,), 0))
    with pytest.raises(ForedraftError, match="the seed 0"):
        made(tmp_path, seed=1)


@pytest.mark.parametrize("taps", [(1, 0), (0, 0), (2,), (-1,)])
def test_taps_that_do_not_fit_are_refused(taps: tuple[int, ...]) -> None:
    with pytest.raises(ForedraftError, match="between 0 and 1"):
        Manifest.of(target(), taps, 0)


def test_what_is_no_folder_of_states_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ForedraftError, match="holds no hidden states"):
        States.open(tmp_path)
    states = made(tmp_path)
    states.add([example(0)])
    states.shards[0].write_bytes(b"cut")
    with pytest.raises(ForedraftError, match="is damaged; delete it"):
        States.open(tmp_path)
