"""Running what was planned: the measured speed-up beside the predicted one."""

from collections.abc import Callable, Sequence
from statistics import geometric_mean, median

from foredraft.drafters.base import Drafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.planner.answers import Answer
from foredraft.planner.survey import Scope
from foredraft.targets.base import Progress


def speedups(
    plain: Generator,
    make: Callable[[], Drafter],
    draft_len: int,
    answers: Sequence[Answer],
    scope: Scope,
    report: Progress,
    repeats: int = 1,
) -> list[float]:
    """For each answer, decode speed with a drafter over that of `plain`, which has none.

    The two take turns, in the other order every other time; a repeated ratio is the median. Each
    run starts cold, with a drafter of its own.
    """
    found: list[float] = []
    for number, answer in enumerate(answers):
        ratios = []
        for repeat in range(repeats):
            report("Running it", number * repeats + repeat, len(answers) * repeats)
            order = [False, True] if (number + repeat) % 2 == 0 else [True, False]
            speed = {
                drafting: _speed(
                    plain.with_drafters(make()) if drafting else plain, draft_len, answer, scope
                )
                for drafting in order
            }
            ratios.append(speed[True] / speed[False])
        found.append(median(ratios))
    return found


def speedup(ratios: Sequence[float]) -> float:
    """What a plan predicts: the geometric mean over answers."""
    return geometric_mean(ratios)


def _speed(generator: Generator, draft_len: int, answer: Answer, scope: Scope) -> float:
    request = Request(
        params=scope.params,
        max_new_tokens=answer.limit,
        seed=scope.seed,
        draft_len=draft_len,
    )
    return generator.generate(answer.prompt, request).stats.tokens_per_s
