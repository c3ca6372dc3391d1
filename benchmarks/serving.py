"""foredraft's server under load, beside itself without speculation and beside llama-server.

At each level so many clients ask at once, each its next question when its last one is answered:
chats of several kinds, greedy, of a fixed length. Throughput is all generated tokens over the time
from the first request to the last answer, so prompts are included, for every arm alike. Each cell
(level, arm, repeat) has a server of its own, started for it and alone on the machine: no cell
finds prompts in a cache or answers to draft from that another left. The order of the arms turns
round from level to level and repeat to repeat.

    python benchmarks/serving.py --llama-server PATH
    python benchmarks/serving.py --target smollm2 --levels 1,4 --tokens 16 --rivals ""
"""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from crowd import Cell, Cells, ask, levels
from engines.base import EngineError
from engines.llama_server import Setting, gguf, served, settings
from engines.served import FOREDRAFT, Served
from foredraft.core.errors import ForedraftError
from foredraft.rivals.openai import Question, Server
from prompts import choose
from report import RESULTS, publish

AUTO, OFF = "foredraft auto", "foredraft off"
MIX = (
    "code_edit,story,formula,ja_qa,summary,code_gen,to_german,story_clock,"
    "rag_qa,story_train,ja_summary,ja_story,chat_maths,story_garden,to_japanese,edit_yaml"
)
"""The eight and eight of the wider set, every kind, short: a CPU reads some 45 tokens a second."""
WARM = Question([{"role": "user", "content": "Count to three."}], 4)
TIMEOUT_S = 1800


@dataclass(frozen=True, slots=True)
class Arm:
    """A way to serve: what is started for it, and what its requests say besides the question."""

    label: str
    server: Callable[[], Served]
    extra: dict[str, Any] = field(default_factory=dict)


def arms(options: argparse.Namespace) -> Iterator[Arm]:
    """foredraft with and without speculation, and llama-server in every way asked for."""
    own = [*options.foredraft, "serve", options.target, "--engine", options.engine]
    own += ["--slots", str(max(options.levels)), *options.serve]
    if options.engine == "llama.cpp":
        own += ["--threads", str(options.threads), "--context", str(options.context)]
    start = lambda: Served("foredraft serve", own, "install foredraft[server]")  # noqa: E731
    yield Arm(AUTO, start, {"speculation": {"mode": "auto"}})
    yield Arm(OFF, start, {"speculation": {"mode": "off"}})
    known = {setting.name: setting for setting in settings() if not setting.drafts}
    for name in options.rivals:
        if name not in known:
            raise EngineError(f"There is no rival {name!r}; choose from {', '.join(known)}.")
        yield _llama(known[name], options)


def _llama(setting: Setting, options: argparse.Namespace) -> Arm:
    slots = max(options.levels)
    command = [options.llama_server, "-m", str(gguf(options.target)), "-np", str(slots)]
    command += ["-c", str(options.context), "--kv-unified", "-t", str(options.threads)]
    command += ["--no-ui", "--offline", "-cram", "0", *setting.args]
    extra = {"cache_prompt": False}
    return Arm(f"llama-server {setting.name}", lambda: served(setting, command), extra)


def measure(arm: Arm, level: int, prompts: Sequence[dict[str, Any]], tokens: int) -> Cell:
    """One cell: a fresh server, one short request to wake it, then the load."""
    questions = [(p["id"], Question(p["messages"], tokens)) for p in prompts]
    with arm.server() as started, closing(Server.at(started.url, TIMEOUT_S)) as server:
        asked = server.serving(None).also({"ignore_eos": True, **arm.extra})
        asked.ask(WARM)
        return ask(asked, questions, level)


def measured(
    options: argparse.Namespace, known: list[Arm], done: dict[str, Cell]
) -> Iterator[dict[str, Cell]]:
    """`done` with one more cell each time, until there is every cell."""
    prompts = choose(options.prompts)
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=options.repeats * len(options.levels) * len(known))
        for repeat in range(options.repeats):
            for number, level in enumerate(options.levels):
                mix = list(islice(cycle(prompts), max(level, options.requests)))
                for arm in known if (repeat + number) % 2 == 0 else reversed(known):
                    progress.update(task, description=f"{level} at once: {arm.label}")
                    name = key(arm.label, level, repeat)
                    if name not in done:
                        done = done | {name: measure(arm, level, mix, options.tokens)}
                        yield done
                    progress.advance(task)


def key(arm: str, level: int, repeat: int) -> str:
    return f"{arm}, {level} at once, {repeat}"


def setting(options: argparse.Namespace) -> dict[str, Any]:
    """What must be the same for cells to belong together."""
    return {
        "target": options.target,
        "engine": options.engine,
        "threads": options.threads,
        "context": options.context,
        "serve": options.serve,
        "prompts": options.prompts,
        "requests": options.requests,
        "new_tokens": options.tokens,
        "temperature": 0.0,
        "throughput": "generated tokens / time from the first request to the last answer",
    }


def earlier(options: argparse.Namespace) -> dict[str, Cell]:
    """The cells of a run with these very settings that was broken off."""
    path = RESULTS / f"{options.name}.json"
    if not (options.resume and path.exists()):
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    if any(found.get(name) != value for name, value in setting(options).items()):
        raise EngineError(f"{path} was measured with other settings; leave --resume out.")
    cells: dict[str, Cell] = found["cells"]
    return cells


def result(options: argparse.Namespace, known: list[Arm], done: dict[str, Cell]) -> dict[str, Any]:
    """What is published: the settings, every level in short, and every cell."""
    cells: Cells = {
        level: {
            arm.label: [
                done[key(arm.label, level, repeat)]
                for repeat in range(options.repeats)
                if key(arm.label, level, repeat) in done
            ]
            for arm in known
        }
        for level in options.levels
    }
    return setting(options) | {"levels": levels(cells, AUTO), "cells": done}


def show(found: dict[str, Any]) -> None:
    """An arm a row: what all answers bring together, and what one client sees (median, p95)."""
    table = Table(title="many clients at once", box=SIMPLE)
    heads = ("at once", "arm", "tokens/s", "auto over it", "first s", "s a token", "α", "a pass")
    for name in heads:
        table.add_column(name, justify="left" if name == "arm" else "right", no_wrap=True)
    cell = lambda value, form: "" if value is None else format(value, form)  # noqa: E731
    for level, row in found["levels"].items():
        for arm, figures in row["arms"].items():
            ratio = row["over"].get(arm, {}).get("throughput")
            spreads = [figures[name] for name in ("first_s", "token_s")]
            pairs = [f"{s['median']:.2f}, {s['p95']:.2f}" if s else "" for s in spreads]
            speed = f"{figures['tokens_per_s']:.1f}"
            rest = [cell(figures[name], ".2f") for name in ("acceptance_rate", "tokens_per_pass")]
            table.add_row(level, arm, speed, cell(ratio, ".2f") + "x" * bool(ratio), *pairs, *rest)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def options_of(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = lambda text: [name for name in text.split(",") if name]  # noqa: E731
    add = parser.add_argument
    add("--target", default="qwen2.5-coder-1.5b")
    add("--engine", default="llama.cpp", choices=("llama.cpp", "torch"))
    add("--levels", type=lambda t: [int(n) for n in names(t)], default=[1, 2, 4, 8, 16])
    add("--tokens", type=int, default=48, help="new tokens of each answer")
    add("--requests", type=int, default=8, help="requests at a level, where it has fewer clients")
    add("--repeats", type=int, default=1)
    add("--rivals", type=names, default=["plain", "ngram-simple"], help="settings of llama-server")
    add("--prompts", default=MIX, help="ids with commas between")
    add("--context", type=int, default=8192, help="tokens of all requests together")
    add("--threads", type=int, default=os.cpu_count() or 1)
    add("--foredraft", type=shlex.split, default=FOREDRAFT, help="the command to serve with")
    add("--serve", type=shlex.split, default=[], help="more options of foredraft serve")
    add("--llama-server", default="llama-server", help="the program llama_server.sh built")
    add("--resume", action="store_true", help="keep the cells that an earlier run finished")
    add("--name", default="serving")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    options = options_of(arguments)
    known = list(arms(options))
    done = earlier(options)
    for more in measured(options, known, done):
        done = more
        publish(options.name, result(options, known, done), show=False)  # a later cell may die
    show(result(options, known, done))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (EngineError, ForedraftError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
