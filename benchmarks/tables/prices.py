"""What a pass over several rows costs here, and a token of the draft model."""

from collections.abc import Iterator
from typing import Any

from tables.base import markdown, number, stored

RUNS = (
    ("rivals-llama-server", "llama.cpp", "llama.cpp, Q4_K_M"),
    ("rivals-transformers", "half", "PyTorch, float16 weights"),
    ("rivals-transformers", "bfloat16", "PyTorch, bfloat16"),
)
"""(result, its form of the model, what to call it)."""
ROWS = (2, 3, 4, 6, 9)


def table(words: str) -> str:
    """v(n) by row count, c, and the α from which one drafted token a round pays."""
    head = ["", "plain step", *(f"v({rows})" for rows in ROWS), "c of the draft model"]
    return markdown([*head, "lookup: α from", "draft model: α from"], _lines())


def _lines() -> Iterator[list[str]]:
    for name, form, said in RUNS:
        found = stored(name)["foredraft"][form]
        curve, cost = found["verify_curve"], _of_the_model(found["cost_ratio"])
        slope = curve[1] - 1
        yield [
            said,
            f"{1000 * found['plain_step_s']:.0f} ms",
            *(number(curve[rows - 1]) for rows in ROWS),
            number(cost),
            number(slope),
            number(None if cost is None else cost + slope),
        ]


def _of_the_model(cost: Any) -> float | None:
    """c; a run with a trained head has that of each drafter by name."""
    return cost.get("model") if isinstance(cost, dict) else cost
