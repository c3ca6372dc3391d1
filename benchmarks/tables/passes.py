"""What a pass of a trained head costs: milliseconds for each size of target and of vocabulary."""

from typing import Any

from tables.base import RESULTS, markdown, stored

RUN, WEIGHTS = "head_time", "float16"
FEWER = (8_192, 32_768)
"""Draft vocabularies that every head was timed with."""
NONE = f"What a pass costs is not kept yet; `python benchmarks/{RUN}.py` measures it."
SAID = (
    "Milliseconds of reading three new tokens + of drafting one more, by how many tokens a head\n"
    f"can draft, with {WEIGHTS} weights (`{RUN}.json`):"
)


def table(heads: str) -> str:
    """Reading the tokens of a round, and drafting one more, of heads named `eagle3`, `dflash` …"""
    if not (RESULTS / f"{RUN}.json").exists():
        return NONE
    found: dict[tuple[str, int], dict[int, dict[str, Any]]] = {}
    for one in stored(RUN)["heads"]:
        if one["head"].startswith(tuple(heads.split())) and one["weights"] == WEIGHTS:
            found.setdefault((one["head"], one["hidden_size"]), {})[one["drafted"]] = one
    times = markdown(
        ["head", "hidden size", *(f"{rows:,} tokens" for rows in FEWER), "all tokens", "all are"],
        [[head, f"{size:,}", *_cells(by)] for (head, size), by in found.items()],
    )
    return f"{SAID}\n\n{times}"


def _cells(by: dict[int, dict[str, Any]]) -> list[str]:
    """By the draft's vocabulary; the largest is the target's own."""
    whole = max(by)
    times = [f"{by[rows]['read']:.1f} + {by[rows]['grow']:.1f}" for rows in (*FEWER, whole)]
    return [*times, f"{whole:,}"]
