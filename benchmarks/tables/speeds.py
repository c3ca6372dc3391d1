"""What foredraft's own drafters made of plain decoding, by prompt, by length, and as `auto`."""

from collections.abc import Iterator
from math import exp, log

from tables.base import Result, markdown, number, stored, times

RUNS = (
    ("rivals-llama-server", "foredraft llama.cpp", "llama.cpp"),
    ("rivals-transformers", "foredraft half", "PyTorch"),
)
"""(result, foredraft's methods in it, what to call the engine)."""
PLANS = (("plan", "llama.cpp"), ("plan-torch", "PyTorch"))
CONTROL = ("control", "control-torch")


def table(method: str) -> str:
    """Speed over plain decoding, α and tokens a pass of one method, an engine beside the other."""
    head, sides = ["prompt"], []
    for name, ours, engine in RUNS:
        result = stored(name)
        label = f"{ours} {method}"
        if label in result["geometric_mean_over_plain"]:
            head += [f"{engine}: over plain", "α", "tokens a pass"]
            sides.append(dict(_cells(result, label)))
    return markdown(
        head,
        [
            [prompt, *(cell for side in sides for cell in side.get(prompt, ["–"] * 3))]
            for prompt in sides[0]
        ],
    )


def _cells(result: Result, label: str) -> Iterator[tuple[str, list[str]]]:
    for prompt, row in result["prompts"].items():
        cell = row[label]
        alpha, passes = cell.get("acceptance_rate"), cell["tokens_per_pass"]
        yield prompt, [times(cell["over_plain"]), number(alpha), number(passes)]
    mean = result["geometric_mean_over_plain"][label]
    yield "geometric mean", [times(mean), "", ""]


def lengths(drafter: str) -> str:
    """Measured speed over plain decoding by γ: the geometric mean over a plan's prompts."""
    sides = [_by_length(stored(name), drafter) for name, _ in PLANS]
    names = [engine for _, engine in PLANS]
    return markdown(
        ["", *(f"γ = {gamma}" for gamma in sides[0])],
        [[name, *map(times, side.values())] for name, side in zip(names, sides, strict=True)],
    )


def _by_length(result: Result, drafter: str) -> dict[int, float]:
    found: dict[int, list[float]] = {}
    for cell in result["cells"]:
        if cell["drafter"] == drafter:
            found.setdefault(cell["draft_len"], []).append(log(cell["measured"]))
    return {gamma: exp(sum(logs) / len(logs)) for gamma, logs in sorted(found.items())}


def control(words: str) -> str:
    """`auto` beside plain decoding, and beside each prompt's best fixed lookup in hindsight."""
    head = ["run", "prompts", "over plain", "lowest", "lowest, as priced", "of the best lookup"]
    return markdown(head, map(_control, CONTROL))


def _control(name: str) -> list[str]:
    result = stored(name)
    priced = min(row["priced_over_plain"] for row in result["prompts"].values())
    ratios = (
        result["geometric_mean_over_plain"],
        result["lowest_over_plain"],
        priced,
        result["geometric_mean_of_best_lookup"],
    )
    return [f"{result['engine']}, `{name}.json`", str(len(result["prompts"])), *map(times, ratios)]
