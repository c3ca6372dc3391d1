"""The size experiment's stored result as the table and the picture of docs/choosing.md."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sizing.measure import COMMON
from sizing.notes import LANGUAGES

BEGIN, END = "<!-- sizes -->", "<!-- end -->"
Row = dict[str, Any]


def rows_of(found: dict[str, Any], draft: str) -> tuple[Row, Row]:
    """A draft's row at its best γ by prediction, and its row at COMMON; they may be the same."""
    mine = [row for row in found["rows"] if row["draft"] == draft]
    best = next(row for row in mine if row["best"])
    return best, next(row for row in mine if row["draft_len"] == COMMON)


def tables(result: dict[str, Any]) -> str:
    """A Markdown table a temperature, the drafts by size, and who won."""
    lines = []
    for temperature, found in result["temperatures"].items():
        lines += [
            f"Temperature {temperature}:",
            "",
            f"| draft | parameters | c | α (n) | α en, ja | γ | predicted | measured | en, ja | "
            f"measured at γ = {COMMON} |",
            "|---|" + "---:|" * 9,
        ]
        for draft, size in result["drafts"].items():
            best, common = rows_of(found, draft)
            alphas = ", ".join(f"{common[lang]['acceptance_rate']:.2f}" for lang in LANGUAGES)
            speeds = ", ".join(f"{best[lang]['measured']:.2f}x" for lang in LANGUAGES)
            cells = [
                draft, f"{size['parameters'] / 1e6:.0f} M", f"{best['cost_ratio']:.2f}",
                f"{common['acceptance_rate']:.2f} ({common['judged']})", alphas,
                str(best["draft_len"]), f"{best['predicted']:.2f}x", f"{best['measured']:.2f}x",
                speeds, f"{common['measured']:.2f}x",
            ]  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
        lines += ["", _winners(found), ""]
    return "\n".join(lines).rstrip()


def _winners(found: dict[str, Any]) -> str:
    chosen, fastest = found["predicted_winner"], found["measured_winner"]
    lookup = found["best_lookup"]
    what = f"{chosen['draft']} with γ = {chosen['draft_len']}"
    if chosen == fastest:
        said = f"The planner named {what}, which was the fastest ({chosen['measured']:.2f}x)."
    else:
        said = (
            f"The planner named {what} ({chosen['measured']:.2f}x); {fastest['draft']} with γ = "
            f"{fastest['draft_len']} was the fastest ({fastest['measured']:.2f}x)."
        )
    return (
        f"{said} A {lookup['drafter']} lookup, which needs no draft, was predicted at "
        f"{lookup['predicted']:.2f}x."
    )


def written(page: str, result: dict[str, Any]) -> str:
    """The page with the tables between its marks brought up to date."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables(result)}\n\n{END}{after}"


def draw(result: dict[str, Any], path: Path) -> None:
    """Acceptance and speed-up over the drafts' size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    accepting, speeding = figure.subplots(1, 2)
    sizes = [size["parameters"] for size in result["drafts"].values()]
    for colour, (temperature, found) in enumerate(result["temperatures"].items()):
        pairs = [rows_of(found, draft) for draft in result["drafts"]]
        style = {"color": f"C{colour}", "marker": "o"}
        for lang, dashes in zip(LANGUAGES, ("-", "--"), strict=True):
            values = [common[lang]["acceptance_rate"] for _, common in pairs]
            label = f"temperature {temperature}, {lang}"
            accepting.plot(sizes, values, dashes, label=label, **style)
        lines: dict[str, tuple[str, Callable[[Row, Row], float]]] = {
            "measured, γ as planned": ("-", lambda best, _: best["measured"]),
            f"measured, γ = {COMMON}": ("--", lambda _, common: common["measured"]),
            "predicted, γ as planned": (":", lambda best, _: best["predicted"]),
        }
        for what, (dashes, value) in lines.items():
            label = f"temperature {temperature}: {what}"
            speeding.plot(sizes, [value(*pair) for pair in pairs], dashes, label=label, **style)
    speeding.axhline(1, color="0.3", linewidth=1)
    for axes, title in (
        (accepting, f"acceptance rate α (γ = {COMMON})"),
        (speeding, "speed over plain decoding"),
    ):
        axes.set_title(title)
        axes.set_xscale("log")
        axes.set_xlabel("parameters of the draft")
        axes.grid(color="0.9")
        axes.legend(
            frameon=False, fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.15)
        )
    figure.savefig(path, dpi=130)
