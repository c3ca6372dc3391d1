"""Trained drafts: what each made of plain decoding, one table a stored run."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from tables.base import RESULTS, Result, markdown, number, stored, times

FORMS = {"half": "float16 weights", "packed": "float32", "bfloat16": "bfloat16"}
NONE = (
    "How fast texts become is not kept yet; "
    "`python benchmarks/rivals.py {} FOLDER --name heads-NAME` measures it."
)


def table(drafters: str) -> str:
    """Every run `heads*.json` of one of these drafters: `eagle3`, `medusa` …, or `model`."""
    names = sorted(path.stem for path in RESULTS.glob("heads*.json"))
    found = [text for name in names for text in _run(name, drafters.split())]
    return "\n\n".join(found) or NONE.format("--draft" if drafters == "model" else "--head")


def _run(name: str, drafters: Sequence[str]) -> Iterator[str]:
    result = stored(name)
    for form, measured in result["foredraft"].items():
        for drafter, cost in measured["cost_ratio"].items():
            if drafter in drafters:
                said = f"`{name}.json`: {_what(result, drafter)}, {FORMS.get(form, form)}, "
                said += f"{result['new_tokens']} tokens, temperature {result['temperature']:g}, "
                said += f"n = {result['repeats']}, c = {cost:.2f}."
                yield f"{said}\n\n{_speeds(result, f'foredraft {form}', drafter)}"


def _what(result: Result, drafter: str) -> str:
    """The pair; a folder by its name alone."""
    draft = Path(result["draft"]).name if drafter == "model" else drafter
    return f"{draft} for {Path(result['target']).name}"


def _speeds(result: Result, ours: str, drafter: str) -> str:
    """Speed over plain decoding at each γ and as `auto`, and the fastest rival over the same."""
    means = result["geometric_mean_over_plain"]
    start = f"{ours} {drafter} "
    fixed = sorted(
        (label for label in means if label.startswith(start)),
        key=lambda label: int(label.removeprefix(start)),
    )
    head = [
        "prompt", "plain, tokens a second", "α of the first token",
        *(f"γ = {label.removeprefix(start)}" for label in fixed),
        "auto", "of its ideal", "fastest rival",
    ]  # fmt: skip
    labels = [*fixed, f"{ours} auto"]
    lines = []
    for prompt, row in result["prompts"].items():
        plain, auto = row[f"{ours} plain"]["tokens_per_s"], row.get(f"{ours} auto", {})
        rival = _rival(result, prompt)
        lines.append([
            prompt, number(plain, 1), number(_first(row, fixed)),
            *(times(row.get(label, {}).get("over_plain")) for label in labels),
            number(auto.get("to_ideal")), times(rival / plain if rival and plain else None),
        ])  # fmt: skip
    lines.append(["geometric mean", "", "", *(times(means.get(one)) for one in labels), "", ""])
    return markdown(head, lines)


def _first(row: dict[str, Any], labels: Sequence[str]) -> float | None:
    """Of the shortest drafts, which were made most often."""
    runs = row.get(labels[0], {}).get("details", []) if labels else []
    rates = [run["per_position"][0] for run in runs if run["per_position"]]
    return mean(rates) if rates else None


def _rival(result: Result, prompt: str) -> float | None:
    """Tokens a second of the fastest setting of any rival, with hindsight."""
    bests = [
        family["prompts"].get(prompt, {}).get("best")
        for name, family in result["families"].items()
        if name.endswith(", any") and not name.startswith("foredraft")
    ]
    return max((best["tokens_per_s"] for best in bests if best), default=None)
