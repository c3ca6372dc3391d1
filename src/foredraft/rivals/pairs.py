"""The same prompts with speculation and without, side by side in time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from foredraft.rivals.answer import Answer
from foredraft.rivals.openai import Question, Server
from foredraft.rivals.prompts import Sample

ON, OFF = "on", "off"


@dataclass(frozen=True, slots=True)
class Run:
    """One answer: to which prompt, in which repeat, with speculation `on` or `off`."""

    prompt: str
    repeat: int
    side: str
    answer: Answer


def alternate(
    sides: Mapping[str, Server],
    samples: Sequence[Sample],
    question: Question,
    repeats: int,
) -> Iterator[Run]:
    """Ask every side each prompt `repeats` times; the two runs of a pair follow each other.

    Which comes first changes with every pair and every repeat, so that a machine that warms up or
    slows down favours neither. A repeat has its own seed, the same for both sides.
    """
    for repeat in range(repeats):
        for number, sample in enumerate(samples):
            order = list(sides)[:: 1 if (repeat + number) % 2 == 0 else -1]
            for side in order:
                asked = Question(sample.messages, question.tokens, question.temperature, repeat)
                yield Run(sample.id, repeat, side, sides[side].ask(asked))


def paired(runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """The pairs (on, off) of the same prompt and repeat that are complete, in order."""
    offs = {(run.prompt, run.repeat): run for run in runs if run.side == OFF}
    return [
        (run, offs[run.prompt, run.repeat])
        for run in runs
        if run.side == ON and (run.prompt, run.repeat) in offs
    ]
