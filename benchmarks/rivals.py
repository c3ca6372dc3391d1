"""foredraft beside other engines: the same prompts and weights, every method in turn, in one run.

Each repeat goes through the prompts and decodes each by every method before the next, in the
opposite order every other repeat, so that a drifting machine touches all alike. Decode time only;
the time to the first token is reported apart. docs/benchmarks.md says how to build the rivals.

    python benchmarks/rivals.py --rivals transformers --forms half,bfloat16
    python benchmarks/rivals.py --rivals llama-server --forms llama.cpp --llama-server PATH
    python benchmarks/rivals.py --rivals openvino --forms llama.cpp --openvino FOLDER
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import compare
from engines import flash, hf, ours
from engines.base import Ask, EngineError, Method, Run
from engines.llama_server import Servers, gguf
from engines.ov import OpenVINO
from engines.pair import FORMS
from foredraft.core.errors import ForedraftError
from prompts import choose
from report import publish

RIVALS = ("transformers", "llama-server", "openvino", "flashspec")
Found = dict[str, dict[str, list[Run]]]


def rivals(options: argparse.Namespace, eos: list[int], closing: ExitStack) -> Iterator[Method]:
    """The methods of the rivals asked for; `closing` ends what they started."""
    target, draft = options.target, options.draft or None
    forms = [form for form in options.forms if form != ours.LLAMA]
    for name in options.rivals:
        if name == "transformers":
            yield from hf.methods(target, draft, forms)
        elif name == "flashspec":
            yield from flash.methods(target, draft, [form for form in forms if form != "bfloat16"])
        elif name == "llama-server":
            small = None if draft is None else gguf(draft)
            servers = Servers(options.llama_server, gguf(target), small, options.threads)
            closing.callback(servers.close)
            yield from servers.methods()
        elif name == "openvino":
            pipelines = OpenVINO(Path(options.openvino), target, draft, eos, options.threads)
            closing.callback(pipelines.close)
            yield from pipelines.methods()
        else:
            raise EngineError(f"There is no rival {name!r}; choose from {', '.join(RIVALS)}.")


def rounds(
    options: argparse.Namespace, prompts: dict[str, list[int]], methods: list[Method]
) -> Iterator[Found]:
    """After each repeat, everything found so far; stops after the one that used up the budget."""
    found: Found = {prompt: {m.label: [] for m in methods} for prompt in prompts}
    begun = time.monotonic()
    with Progress(console=Console(stderr=True)) as progress:
        total = options.repeats * len(prompts) * len(methods)
        task = progress.add_task("decoding", total=total)
        for repeat in range(options.repeats):
            for prompt, ids in prompts.items():
                ask = Ask(ids, options.tokens, options.temperature, seed=repeat)
                for method in methods if repeat % 2 == 0 else reversed(methods):
                    progress.update(task, description=f"{prompt}: {method.label}")
                    found[prompt][method.label].append(method.run(ask))
                    progress.advance(task)
            yield found
            minutes = (time.monotonic() - begun) / 60
            if options.budget and minutes > options.budget and repeat + 1 < options.repeats:
                print(f"The budget of {options.budget:g} minutes is used up: n = {repeat + 1}.")
                return


def result(found: Found, methods: list[Method], options: argparse.Namespace) -> dict[str, Any]:
    """What is published: the settings, every method on every prompt, and each engine's best."""
    table = compare.rows(found, methods)
    against = compare.over_foredraft(table, methods)
    labels = [method.label for method in methods]
    return {
        "target": options.target,
        "draft": options.draft or None,
        "threads": options.threads,
        "new_tokens": options.tokens,
        "temperature": options.temperature,
        "repeats": len(next(iter(next(iter(found.values())).values()))),
        "repeats_asked": options.repeats,
        "baseline": "over_plain: the same engine and weights, plain, same prompt and repeat",
        "foredraft_reference": against,
        "geometric_mean_over_plain": compare.means(table, labels, "over_plain"),
        "geometric_mean_over_foredraft": compare.means(table, labels, "over_foredraft"),
        "families": compare.families(table, methods),
        "prompts": table,
    }


def show(found: dict[str, Any]) -> None:
    """Two tables: every method's means, and each engine's best beside foredraft, a prompt a row."""
    over = Table(title="geometric means over the prompts")
    for column in ("method", "over own plain", "over foredraft"):
        over.add_column(column, justify="left" if column == "method" else "right")
    cell = lambda ratio: "" if ratio is None else f"{ratio:.2f}x"  # noqa: E731
    for label, ratio in found["geometric_mean_over_plain"].items():
        over.add_row(label, cell(ratio), cell(found["geometric_mean_over_foredraft"][label]))
    best = Table(title="tokens per second: foredraft, and each rival's best with hindsight (ratio)")
    kinds = [name for name in found["families"] if name.endswith(", any")]
    engines = {name: name.removesuffix(", any") for name in kinds}
    engines = {name: engine for name, engine in engines.items() if engine != compare.US}
    for column in ("prompt", "foredraft", *engines.values()):
        best.add_column(column)
    for prompt, label in found["foredraft_reference"].items():
        own = found["prompts"][prompt].get(label)
        texts = [f"{own['tokens_per_s']:.1f} {_short(label)}" if own else ""]
        for name in engines:
            c = found["families"][name]["prompts"].get(prompt, {}).get("best")
            ratio = cell(c["over_foredraft"]) if c else ""
            texts.append(f"{c['tokens_per_s']:.1f} ({ratio}) {_short(c['method'])}" if c else "")
        best.add_row(prompt, *texts)
    Console().print(over, best)


def _short(label: str) -> str:
    return label.partition(" ")[2]


def options_of(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = lambda text: [name for name in text.split(",") if name]  # noqa: E731
    add = parser.add_argument
    add("--rivals", type=names, default=["transformers"], help=f"of {', '.join(RIVALS)}")
    add("--forms", type=names, default=["half"], help=f"of {', '.join([*FORMS, ours.LLAMA])}")
    add("--target", default="qwen2.5-coder-1.5b")
    add("--draft", default="qwen2.5-coder-0.5b", help='"" leaves the draft model out')
    add("--head", default="", help="a trained head, which drafts for foredraft")
    add("--prompts", default="", help="ids with commas between; all by default")
    add("--wide", action="store_true", help="the wider set of prompts")
    add("--tokens", type=int, default=96)
    add("--repeats", type=int, default=2)
    add("--temperature", type=float, default=0.0)
    add("--methods", type=names, default=[], help='patterns, such as "foredraft *,* plain"')
    add("--list", action="store_true", help="name the methods and stop")
    add("--budget", type=float, default=0.0, help="minutes after which no repeat begins")
    add("--threads", type=int, default=os.cpu_count() or 1)
    add("--llama-server", default="llama-server", help="the program llama_server.sh built")
    add("--openvino", default="openvino", help="the folder openvino_models.sh made")
    add("--name", default="rivals")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    options = options_of(arguments)
    torch.set_num_threads(options.threads)
    with ExitStack() as closing:
        draft = options.draft or None
        sides = [
            ours.Ours(options.target, draft, form, options.threads, options.head or None)
            for form in options.forms
        ]
        if not sides:
            raise EngineError("--forms names nothing, so there is no foredraft to compare with.")
        tokenizer = sides[0].tokenizer
        methods = [method for side in sides for method in side.methods()]
        methods += rivals(options, sorted(tokenizer.eos_ids), closing)
        wanted = options.methods or ["*"]
        methods = [m for m in methods if any(fnmatch(m.label, like) for like in wanted)]
        if options.list or not methods:
            print("\n".join(method.label for method in methods) or "No method is called that.")
            return
        chosen = choose(options.prompts, options.wide)
        prompts = {prompt["id"]: tokenizer.chat(prompt["messages"]) for prompt in chosen}
        measured = {side.form: side.measure() for side in sides}
        for found in rounds(options, prompts, methods):
            whole = result(found, methods, options) | {"foredraft": measured}
            publish(options.name, whole, show=False)  # a later repeat may die
    show(whole)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (EngineError, ForedraftError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
