"""`foredraft train`: a draft made for a target, and whether it pays."""

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from foredraft.cli.bar import Bar
from foredraft.cli.units import read_size, read_time
from foredraft.core.errors import ForedraftError
from foredraft.rivals.prompts import read_samples

KINDS = ("eagle3", "medusa", "small")
_WHY = {
    "enough": "all that was wanted",
    "no space": "--space is full",
    "no time": "--budget is spent",
    "no more": "all of the data",
    "stopped": "stopped",
}


def train(
    model: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="The model to speed up, named as for `foredraft run --model`; PyTorch runs it.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="The draft's folder; what it learns from is kept there.", metavar="DIR"),
    ],
    kind: Annotated[
        str,
        typer.Option(
            help="eagle3: a layer that reads the target's hidden states, the best drafts; medusa: "
            "heads on its last one, the cheapest; small: a language model of its own, which any "
            "engine can use.",
            metavar="KIND",
        ),
    ] = "eagle3",
    data: Annotated[
        Path | None,
        typer.Option(
            help="Learn from your data: text, or JSON lines with messages, prompt or text. Without "
            "it the target asks itself and answers.",
            metavar="FILE",
        ),
    ] = None,
    given_answers: Annotated[
        bool,
        typer.Option(
            "--given-answers",
            metavar="",
            help="Learn the answers that are in the data; by default the target answers anew, for "
            "a draft must learn its words.",
        ),
    ] = False,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="The prompts that the draft is judged with in the end, as for `plan`; none of "
            "them is learnt from.",
            metavar="FILE",
        ),
    ] = None,
    tokens: Annotated[
        int, typer.Option(min=1, help="Tokens of answers to learn from.", metavar="N")
    ] = 200_000,
    longest: Annotated[
        int, typer.Option(min=1, help="The longest answer, in tokens.", metavar="N")
    ] = 256,
    epochs: Annotated[
        int, typer.Option(min=1, help="How often to go through them.", metavar="N")
    ] = 8,
    vocabulary: Annotated[
        int,
        typer.Option(min=1, help="Tokens that a head can draft: the most frequent.", metavar="N"),
    ] = 8192,
    budget: Annotated[
        str,
        typer.Option(
            help="How long it may take in all, as 90s, 45m or 2h; half of it goes to gathering.",
            metavar="TIME",
        ),
    ] = "2h",
    space: Annotated[
        str, typer.Option(help="Room for hidden states on disk, as 800M or 4G.", metavar="SIZE")
    ] = "4G",
    states: Annotated[
        Path | None,
        typer.Option(
            help="Where hidden states are kept, DIR/states by default: another draft of the same "
            "target may learn from them too.",
            metavar="FOLDER",
        ),
    ] = None,
    at_once: Annotated[
        int,
        typer.Option(min=1, help="Answers written at once; more on a GPU.", metavar="N"),
    ] = 32,
    gather_only: Annotated[
        bool,
        typer.Option(
            "--gather-only", metavar="", help="Stop before learning; the same command goes on."
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Same seed, same prompts and weights.", metavar="N")
    ] = 0,
    dtype: Annotated[
        str, typer.Option(help="The target's precision, as for `run`.", metavar="TYPE")
    ] = "auto",
    device: Annotated[
        str, typer.Option(help="Where it runs, as for `run`.", metavar="DEVICE")
    ] = "auto",
    threads: Annotated[int | None, typer.Option(help="CPU threads.", metavar="N")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print JSON and nothing else.")
    ] = False,
) -> None:
    """Make a draft for a model on this machine, and say whether it pays.

    The target writes answers, its hidden states go to disk while it writes, the draft learns from
    both, and the planner judges it on prompts that it has not seen. Stopped with Ctrl-C, the same
    command goes on where it was.
    """
    if kind not in KINDS:
        raise ForedraftError(f"Unknown kind {kind!r}; choose one of {', '.join(KINDS)}.")
    if given_answers and data is None:
        raise ForedraftError("--given-answers needs --data FILE: there are no answers but its own.")
    seconds, room, judges = (
        read_time(budget, "budget"),
        read_size(space, "space"),
        read_samples(prompts),
    )
    if out.exists() and not out.is_dir():
        raise ForedraftError(f"{out} is a file; --out must name a folder, new or its own.")
    from foredraft.targets.torch_hf import load_target
    from foredraft.training.data import read_data
    from foredraft.training.gather import GATHERING, Amount, Ended
    from foredraft.training.learn import Kind
    from foredraft.training.lesson import Curriculum
    from foredraft.training.material import Material, gathered
    from foredraft.training.train import train as make

    chats = None if data is None else read_data(data)
    material = Material(judges, chats, not given_answers, longest, seed)
    amount = Amount(tokens, room, seconds, at_once)
    curriculum = Curriculum(Kind(kind), epochs, vocabulary=vocabulary, seed=seed)
    with Bar(f"Loading {model}", {GATHERING: "tokens"}) as bar:
        target = load_target(model, dtype, device, threads, bar)
        begun = time.monotonic()
        held = states or out / "states"
        if gather_only:
            found, ended = gathered(target, curriculum.kind, held, material, amount, bar)
        else:
            try:
                made = make(target, curriculum, material, amount, held, out, bar)
            except KeyboardInterrupt:
                bar.close()
                print("Stopped; the same command goes on from here.", file=sys.stderr)
                raise
    if gather_only:
        _show_gathered(found.answer_tokens, found.size, ended, time.monotonic() - begun, as_json)
        if ended is Ended.STOPPED:
            raise typer.Exit(130)
    elif as_json:
        print(json.dumps(made.to_dict(), ensure_ascii=False))
    else:
        from foredraft.cli.train_show import show

        show(made)


def _show_gathered(tokens: int, size: int, ended: str, seconds: float, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"version": 1, "answer_tokens": tokens, "bytes": size, "gathered": ended}))
    else:
        on_disk = f"{tokens:,} tokens of answers, {size / 1e9:.2f} GB on disk"
        print(f"{on_disk}: {_WHY[ended]}, after {seconds:.0f} s.")
