"""`foredraft train`: a draft made for a target."""

import re
import time
from pathlib import Path
from typing import Annotated

import typer

from foredraft.cli.bar import Bar
from foredraft.core.errors import ForedraftError
from foredraft.rivals.prompts import read_samples

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def train(
    model: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="The model to speed up, named as for `foredraft run --model`."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="The folder for the draft and what it learns from.", metavar="DIR")
    ],
    kind: Annotated[str, typer.Option(help="eagle3, medusa or small.")] = "eagle3",
    tokens: Annotated[
        int, typer.Option(min=1, help="Tokens of answers to learn from.", metavar="N")
    ] = 400_000,
    longest: Annotated[
        int, typer.Option(min=1, help="The longest answer, in tokens.", metavar="N")
    ] = 256,
    at_once: Annotated[
        int, typer.Option(min=1, help="Answers that are written at once.", metavar="N")
    ] = 48,
    budget: Annotated[
        str, typer.Option(help="How long it may take in all.", metavar="TIME")
    ] = "2h",
    space: Annotated[
        str, typer.Option(help="Room for hidden states on disk.", metavar="SIZE")
    ] = "4G",
    seed: Annotated[int, typer.Option(min=0)] = 0,
    threads: Annotated[int | None, typer.Option(help="CPU threads.")] = None,
    gather_only: Annotated[bool, typer.Option("--gather-only", metavar="")] = False,
) -> None:
    """Make a draft for a target."""
    from foredraft.targets.torch_hf import load_target
    from foredraft.training.gather import Amount
    from foredraft.training.train import Wanted, gathered

    seconds = _seconds(budget) * (1 if gather_only else 0.5)
    amount = Amount(tokens, _bytes(space), seconds, at_once)
    wanted = Wanted(kind, out, amount, longest, read_samples(), seed)
    with Bar(f"Loading {model}") as bar:
        target = load_target(model, threads=threads, progress=bar)
        begun = time.monotonic()
        states, ended = gathered(target, wanted, bar)
    took = time.monotonic() - begun
    print(f"{states.answer_tokens:,} tokens, {states.size / 1e9:.2f} GB ({ended}), {took:.0f} s")


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if match is None or float(match[1]) == 0:
        raise ForedraftError(f"--budget is {text!r}; write a time such as 90s, 2m or 1h.")
    return float(match[1]) * _UNITS[match[2]]


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", text.strip().upper())
    if match is None or float(match[1]) == 0:
        raise ForedraftError(f"--space is {text!r}; write a size such as 800M or 4G.")
    return int(float(match[1]) * _SIZES[match[2]])
