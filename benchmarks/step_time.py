"""How near a pass comes to the machine's memory: milliseconds and bytes a second, by rows.

    python benchmarks/step_time.py [--models smollm2 qwen2.5-coder-1.5b] [--contexts 200 1500]

A plain step must read every weight once, so weights over read bandwidth is its floor. Formats and
row counts alternate, each repeat in the opposite order; medians with the lowest and highest.
"library attention" is the float32 model with keys copied for every query head, as Transformers
does it. bfloat16 runs at the first context only: where it is emulated its prefill takes minutes.
"""

import argparse
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from statistics import median
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from foredraft.targets.attention import group_heads
from foredraft.targets.base import Rows
from foredraft.targets.torch_hf import TorchTarget, load_target
from report import publish

ROWS = (1, 2, 3, 4, 6, 8, 12, 16)
Form = tuple[TorchTarget, Callable[[], AbstractContextManager[Any]]]


def bandwidth(repeats: int = 7) -> float:
    """Bytes a second that all threads together read: the best of several sums over 1 GiB."""
    numbers = torch.ones(1 << 28)
    numbers.sum()
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        numbers.sum()
        times.append(time.perf_counter() - begun)
    return numbers.numel() * 4 / min(times)


def weight_bytes(target: TorchTarget) -> int:
    """What a pass reads of the linear layers; of the embedding it reads a few rows."""
    layers = [module for module in target.model.modules() if hasattr(module, "out_features")]
    return sum(m.in_features * m.out_features for m in layers) * target.weights.itemsize


def forms(name: str) -> dict[str, Form]:
    """The targets that are compared, each with what must hold while it runs."""
    half, brain = load_target(name, "float16", "cpu"), load_target(name, "bfloat16", "cpu")
    full = load_target(name, "float32", "cpu")

    @contextmanager
    def library_attention() -> Any:
        full.model.set_attn_implementation("sdpa")
        yield
        group_heads(full.model)

    return {
        "float32, library attention": (full, library_attention),
        "float32": (full, nullcontext),
        "float16 weights": (half, nullcontext),
        "bfloat16": (brain, nullcontext),
    }


def passes(found: dict[str, Form], context: int, repeats: int) -> dict[str, dict[int, list[float]]]:
    """Milliseconds of every pass, by form and rows; the first round warms up and does not count."""
    tokens = [(37 * i) % 1000 + 100 for i in range(context + max(ROWS))]
    sequences = {id(target): target.open() for target, _ in found.values()}
    for target, _ in found.values():
        target.prefill(sequences[id(target)], tokens[:context])
    times: dict[str, dict[int, list[float]]] = {form: {r: [] for r in ROWS} for form in found}
    order = [(form, rows) for rows in ROWS for form in found]
    for repeat in range(repeats + 1):
        for form, rows in order[:: -1 if repeat % 2 else 1]:
            target, holding = found[form]
            sequence = sequences[id(target)]
            with holding():
                begun = time.perf_counter()
                target.score([Rows(sequence, tokens[context : context + rows])])
                took = time.perf_counter() - begun
            target.commit(sequence, [])
            if repeat:
                times[form][rows].append(1e3 * took)
    return times


def measure(name: str, contexts: list[int], repeats: int, console: Console) -> dict[str, Any]:
    """One model: its forms at every context, with a table of each."""
    every, result = forms(name), {}
    for context in contexts:
        found = {k: v for k, v in every.items() if k != "bfloat16" or context == contexts[0]}
        before = bandwidth()
        times = passes(found, context, repeats)
        speed = max(before, bandwidth())
        table = Table(title=f"{name} after {context} tokens, milliseconds by rows")
        for column in ("", *map(str, ROWS), "GB/s", "of the machine's"):
            table.add_column(column, justify="right" if column else "left")
        result[str(context)] = {"read_gb_per_s": round(speed / 1e9, 2), "forms": {}}
        for form, by in times.items():
            size, step = weight_bytes(found[form][0]), median(by[1]) / 1e3
            result[str(context)]["forms"][form] = {
                "weight_bytes": size,
                "gb_per_s": round(size / step / 1e9, 2),
                "share_of_bandwidth": round(size / step / speed, 3),
                "ms": {
                    rows: {"median": round(median(t), 2), "low": round(min(t), 2),
                           "high": round(max(t), 2), "n": len(t)}
                    for rows, t in by.items()
                },
            }  # fmt: skip
            cells = (f"{median(t):.1f}" for t in by.values())
            table.add_row(form, *cells, f"{size / step / 1e9:.1f}", f"{size / step / speed:.0%}")
        console.print(table)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="+", default=["smollm2", "qwen2.5-coder-1.5b"])
    parser.add_argument("--contexts", nargs="+", type=int, default=[200, 1500])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    console = Console(width=150)
    publish(
        "step_time",
        {
            "threads": options.threads,
            "models": {
                name: measure(name, options.contexts, options.repeats, console)
                for name in options.models
            },
        },
    )


if __name__ == "__main__":
    main()
