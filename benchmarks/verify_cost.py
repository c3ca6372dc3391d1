"""What a pass of n rows costs, v(n): one layer packed and not, and a whole model in each format.

    python benchmarks/verify_cost.py [--model smollm2]

Row counts alternate; medians of `--repeats` passes after 200 tokens of context.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from curve import verify_curve
from foredraft.targets.packed import PackedLinear
from foredraft.targets.torch_hf import TorchTarget, load_target
from foredraft.targets.weights import load
from report import publish

ROWS = (1, 2, 3, 4, 6, 8, 12, 16)


def layer_times(make: Callable[[nn.Linear], nn.Module], repeats: int) -> dict[int, float]:
    """Milliseconds of one 8,960 × 1,536 float32 layer for each row count."""
    layer = make(nn.Linear(1536, 8960, bias=False))
    times: dict[int, list[float]] = {rows: [] for rows in ROWS}
    with torch.inference_mode():
        for _ in range(repeats + 2):
            for rows in ROWS:
                x = torch.randn(rows, 1536)
                begun = time.perf_counter()
                layer(x)
                times[rows].append(1e3 * (time.perf_counter() - begun))
    return {rows: round(median(runs[2:]), 3) for rows, runs in times.items()}


def model_times(target: TorchTarget, repeats: int) -> dict[int, float]:
    curve = verify_curve(target, max(ROWS), repeats)
    return {rows: round(1e3 * curve[rows - 1], 2) for rows in ROWS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    unpacked = load(options.model, torch.float32, torch.device("cpu"))
    found = {
        "layer, as PyTorch": layer_times(lambda linear: linear, 3 * options.repeats),
        "layer, packed": layer_times(PackedLinear, 3 * options.repeats),
        f"{options.model} float32, as PyTorch": model_times(
            TorchTarget(unpacked.model, unpacked.tokenizer, unpacked.name), options.repeats
        ),
        f"{options.model} float32, packed": model_times(
            load_target(options.model, "float32", "cpu"), options.repeats
        ),
        f"{options.model} bfloat16": model_times(
            load_target(options.model, "bfloat16", "cpu"), options.repeats
        ),
    }
    table = Table(title="milliseconds of a pass of n rows (over one row)")
    table.add_column("")
    for rows in ROWS:
        table.add_column(str(rows), justify="right")
    for name, times in found.items():
        table.add_row(name, *(f"{ms:.1f} ({ms / times[1]:.1f}x)" for ms in times.values()))
    Console().print(table)
    publish(
        "verify_cost",
        {
            "model": options.model,
            "threads": torch.get_num_threads(),
            "repeats": options.repeats,
            "unit": "milliseconds, medians",
            "passes": found,
        },
    )


if __name__ == "__main__":
    main()
