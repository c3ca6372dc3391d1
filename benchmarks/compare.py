"""Runs into numbers: medians, spread, ratios, and each engine's default and best per prompt."""

from collections.abc import Iterable, Mapping
from statistics import geometric_mean, median
from typing import Any

from engines.base import Method, Run

Runs = Mapping[str, Mapping[str, list[Run]]]
"""prompt id → method label → one run a repeat."""
Rows = dict[str, dict[str, dict[str, Any]]]
US = "foredraft"
SHOWN = ("tokens_per_s", "over_plain", "over_foredraft")


def rows(runs: Runs, methods: list[Method]) -> Rows:
    """For every prompt and method: speed, spread, ratio to its own plain, what else is known."""
    by_label = {method.label: method for method in methods}
    return {
        prompt: {label: _row(found, by.get(by_label[label].plain)) for label, found in by.items()}
        for prompt, by in runs.items()
    }


def _row(runs: list[Run], plain: list[Run] | None) -> dict[str, Any]:
    speeds = _known(run.tokens_per_s for run in runs)
    row: dict[str, Any] = {
        "tokens_per_s": _round(median(speeds) if speeds else None),
        "low": _round(min(speeds, default=None)),
        "high": _round(max(speeds, default=None)),
        "n": len(speeds),
        "new_tokens": [len(run.ids) for run in runs],
        "first_s": _round(median(run.first_s for run in runs)),
    }
    if plain is not None:
        pairs = zip(runs, plain, strict=True)
        ratios = [
            run.tokens_per_s / base.tokens_per_s
            for run, base in pairs
            if run.tokens_per_s and base.tokens_per_s
        ]
        row["over_plain"] = _round(median(ratios) if ratios else None)
        row["same_text_as_plain"] = [
            run.ids == base.ids for run, base in zip(runs, plain, strict=True)
        ]
    for name in ("acceptance_rate", "tokens_per_pass"):
        if found := _known(getattr(run, name) for run in runs):
            row[name] = _round(median(found))
    if found := _known(run.details.get("to_ideal") for run in runs):
        row["to_ideal"] = _round(median(found))
    row["details"] = [run.details for run in runs]
    return row


def reference(found: Mapping[str, Mapping[str, Any]], methods: list[Method]) -> str | None:
    """Which of foredraft's methods a prompt's others are compared with: auto if run, else its best.

    With several of one kind (engines, forms) the fastest; so every engine is met at its best.
    """
    ours = [m for m in methods if m.engine == US and found[m.label]["tokens_per_s"]]
    ours = [m for m in ours if m.family == "auto"] or ours
    return max((m.label for m in ours), key=lambda x: found[x]["tokens_per_s"], default=None)


def over_foredraft(table: Rows, methods: list[Method]) -> dict[str, str | None]:
    """Adds `over_foredraft` to every row; returns what each prompt's was divided by."""
    against = {prompt: reference(found, methods) for prompt, found in table.items()}
    for prompt, label in against.items():
        for row in table[prompt].values():
            if label is not None and row["tokens_per_s"]:
                speed = table[prompt][label]["tokens_per_s"]
                row["over_foredraft"] = _round(row["tokens_per_s"] / speed)
    return against


def families(table: Rows, methods: list[Method]) -> dict[str, dict[str, Any]]:
    """Each engine's families, and all of an engine together: its default and its best per prompt.

    "Best" is chosen with hindsight, prompt by prompt, among all settings and forms that ran. Of
    the defaults of several forms the fastest counts; an engine as a whole has no default.
    """
    groups: dict[str, list[Method]] = {}
    for method in methods:
        groups.setdefault(f"{method.engine} {method.family}", []).append(method)
        groups.setdefault(f"{method.engine}, any", []).append(method)
    return {name: _family(table, group) for name, group in groups.items()}


def _family(table: Rows, group: list[Method]) -> dict[str, Any]:
    prompts = {}
    for prompt, found in table.items():
        known = [method for method in group if found[method.label]["tokens_per_s"]]
        speed = {method.label: found[method.label]["tokens_per_s"] for method in known}
        if not speed:
            continue
        best = max(speed, key=lambda label: speed[label])
        usual = [method.label for method in known if method.default]
        usual = usual if len({method.family for method in group}) == 1 else []
        default = max(usual, key=lambda label: speed[label], default=None)
        prompts[prompt] = {
            kind: {
                "method": label,
                **{
                    k: found[label].get(k) for k in ("tokens_per_s", "over_plain", "over_foredraft")
                },
            }
            for kind, label in (("default", default), ("best", best))
            if label is not None
        }
    means = {
        f"{kind} {ratio}": mean(cells[kind][ratio] for cells in prompts.values() if kind in cells)
        for kind in ("default", "best")
        for ratio in ("over_plain", "over_foredraft")
    }
    return {"geometric_means": means, "prompts": prompts}


def means(table: Rows, labels: Iterable[str], ratio: str) -> dict[str, float | None]:
    """The geometric mean of a ratio over the prompts, a method."""
    return {label: mean(found[label].get(ratio) for found in table.values()) for label in labels}


def mean(values: Iterable[float | None]) -> float | None:
    """The geometric mean of what is known; None of nothing."""
    found = [value for value in values if value]
    return _round(geometric_mean(found)) if found else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
