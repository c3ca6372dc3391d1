"""Many texts are written at once as each would be alone, and each follows its job."""

from collections.abc import Iterator
from typing import Any

import torch

from foredraft.training.batch import Batch
from foredraft.training.write import Job, Text, write
from tests.tiny import target

ENDS = frozenset({31})


def written(big: Any, jobs: list[Job], size: int, seed: int = 0) -> list[Text]:
    return list(write(Batch(big, (0,), size), size, iter(jobs), ENDS, seed))


@torch.no_grad()
def greedy(big: Any, prompt: list[int], limit: int) -> list[int]:
    tokens = list(prompt)
    while len(tokens) < len(prompt) + limit and (tokens == prompt or tokens[-1] not in ENDS):
        tokens.append(int(big.model(torch.tensor([tokens])).logits[0, -1].argmax()))
    return tokens


def test_likeliest_answers_are_those_of_each_text_alone() -> None:
    big = target()
    jobs = [Job([i, 2 * i + 1, 3], 4 + i, answer_from=3) for i in range(11)]
    texts = written(big, jobs, 4)
    assert sorted(one.tokens for one in texts) == sorted(
        greedy(big, job.prompt, job.limit) for job in jobs
    )
    assert all(len(one.hidden) == len(one.tokens) and one.answer_from == 3 for one in texts)


def test_a_limit_of_nothing_only_reads() -> None:
    (text,) = written(target(), [Job([1, 2, 3, 4], 0, answer_from=2)], 4)
    assert (text.tokens, len(text.hidden)) == ([1, 2, 3, 4], 4)


def test_draws_follow_the_temperature() -> None:
    """Counted against the law of the next token, by its chi-square."""
    big = target()
    with torch.no_grad():
        p = (big.model(torch.tensor([[3, 4]])).logits[0, -1] / 0.8).softmax(0)
    many = 4000
    drawn = written(big, [Job([3, 4], 1, temperature=0.8)] * many, 500)
    counts = torch.bincount(torch.tensor([one.tokens[2] for one in drawn]), minlength=len(p))
    strays = ((counts - many * p).square() / (many * p).clamp(min=5)).sum()
    assert strays < 80  # 31 degrees of freedom


def test_unlikely_tokens_can_be_left_out() -> None:
    big = target()
    with torch.no_grad():
        p = big.model(torch.tensor([[3, 4]])).logits[0, -1].softmax(0)
    drawn = written(big, [Job([3, 4], 1, temperature=1.0, min_p=0.5)] * 200, 50)
    assert {one.tokens[2] for one in drawn} <= set((p >= 0.5 * p.max()).nonzero()[:, 0].tolist())


def test_a_job_that_follows_goes_on_where_the_text_stands_or_anew() -> None:
    big = target()
    passes: list[int] = []

    class Counted(Batch):
        def step(self, tokens: Any) -> torch.Tensor:
            passes.append(len(tokens))
            return super().step(tokens)

    def then(prompt: list[int] | None) -> Any:
        return lambda tokens: Job((prompt or tokens) + [7], 3, answer_from=1)

    def jobs() -> Iterator[Job]:
        yield Job([1, 2], 2, then=then(None))
        yield Job([1, 2], 2, then=then([5, 6]))
        yield Job([1, 2], 2, then=lambda tokens: None)

    texts = list(write(Counted(big, (), 3), 3, jobs(), ENDS, 0))
    asked = greedy(big, [1, 2], 2)
    assert sorted(one.tokens for one in texts) == sorted(
        [greedy(big, [*asked, 7], 3), greedy(big, [5, 6, 7], 3)]
    )
    assert all(len(one.hidden) == len(one.tokens) for one in texts)


def test_an_answer_that_turns_round_ends() -> None:
    class Counting(Batch):
        def step(self, tokens: Any) -> torch.Tensor:
            following = torch.tensor([(token + 1) % 5 for token in tokens])
            return torch.zeros_like(super().step(tokens)).scatter(1, following[:, None], 1.0)

    (text,) = write(Counting(target(), (0,), 1), 1, iter([Job([0], 400)]), ENDS, 0)
    assert text.tokens == [i % 5 for i in range(65)]
