"""What a draft learns from, and how it comes to be on disk."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.rivals.prompts import Sample
from foredraft.targets.base import Progress
from foredraft.targets.torch_hf import TorchTarget
from foredraft.training.answers import Answering
from foredraft.training.data import Chat, data_jobs
from foredraft.training.gather import Amount, Ended, gather
from foredraft.training.learn import Kind
from foredraft.training.own import own_jobs
from foredraft.training.prompts import Sieve
from foredraft.training.states import Manifest, States, prompt_key

_BESIDE = 1.3
"""Tokens on disk for each of an answer: prompts are there too."""


@dataclass(frozen=True, slots=True)
class Material:
    """What to learn from: `data`, answered anew if `own_answers`; the target's own prompts if None.

    `judges` are the prompts that the draft is judged with, which it must not learn; answers have
    at most `longest` tokens.
    """

    judges: Sequence[Sample]
    data: Sequence[Chat | str] | None = None
    own_answers: bool = True
    longest: int = 256
    seed: int = 0


def gathered(
    target: TorchTarget,
    kind: Kind,
    folder: Path,
    material: Material,
    amount: Amount,
    report: Progress,
) -> tuple[States, Ended]:
    """The hidden states in a folder, as many as are wanted or the bounds allow, and why no more.

    Raises ForedraftError if the folder holds another target's, or the disk has no room for them.
    """
    taps = usual_taps(target) if kind is Kind.EAGLE3 else _held(folder)
    states = States.make(folder, Manifest.of(target, taps, material.seed))
    _check_room(states, amount)
    said = [message["content"] for sample in material.judges for message in sample.messages]
    sieve = Sieve(said, [prompt_key(tokens[:start]) for tokens, start in states.texts()])
    seed = material.seed + states.answer_tokens  # another one when it goes on
    answering = Answering(target.tokenizer, sieve, material.longest, target.context, seed)
    if material.data is None:
        jobs = own_jobs(answering)
    else:
        jobs = data_jobs(material.data, answering, material.own_answers)
    return states, gather(target, states, jobs, answering.header, amount, seed, report)


def usual_taps(target: TorchTarget) -> tuple[int, ...]:
    """What a layer near the first, one in the middle and the last one read. Others take one before
    the last; but to what the last reads a head can put that layer's own MLP."""
    layers = target.model.config.get_text_config(decoder=True).num_hidden_layers
    return tuple(sorted({min(2, layers // 4), layers // 2, layers - 1}))


def _held(folder: Path) -> tuple[int, ...]:
    """The taps that are there: a draft that reads the last hidden state alone does with any."""
    try:
        return States.open(folder).manifest.taps
    except ForedraftError:
        return ()


def _check_room(states: States, amount: Amount) -> None:
    more = max(0, amount.tokens - states.answer_tokens)
    needed = min(
        int(more * _BESIDE * states.manifest.bytes_a_token), max(0, amount.space - states.size)
    )
    free = shutil.disk_usage(states.folder).free
    if needed > free:
        raise ForedraftError(
            f"{states.folder} has {free / 1e9:.1f} GB free, and hidden states of {more:,} more "
            f"tokens take about {needed / 1e9:.1f} GB; give fewer --tokens, less --space or "
            "another --out."
        )
