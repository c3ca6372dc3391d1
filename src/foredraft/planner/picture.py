"""A plan as a picture, drawn with matplotlib, which is imported only when one is asked for."""

from io import BytesIO
from textwrap import wrap
from typing import Any

from foredraft.planner.plan import Plan
from foredraft.planner.wording import HEADLINES, expected, label, reach, shortlist, versus

_BARS = 9
_COLOURS = {"use": "#116329", "do_not": "#a3211a", "measure_longer": "#7a4a00"}
_FILL, _SLOW, _INK, _ASKED, _MUTED = "#3b6fd4", "#b9615a", "#10254d", "#8a5300", "#57606a"


def picture(plan: Plan) -> bytes:
    """A PNG: the verdict, the best settings with their intervals, and what verification costs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.3), facecolor="white")
    bars, curve = figure.subplots(
        1, 2, width_ratios=(3, 2), gridspec_kw={"wspace": 0.16, "top": 0.72, "bottom": 0.17}
    )
    figure.subplots_adjust(left=0.24, right=0.97)
    figure.text(
        0.03, 0.92, HEADLINES[plan.verdict], size=24, weight="bold", color=_COLOURS[plan.verdict]
    )
    if plan.best is not None:
        said = f"{plan.best.predicted_speedup:.2f}x {expected(plan.best)}. {versus(plan.best)}"
        figure.text(0.03, 0.845, _cut("\n".join(wrap(said, 120)), 241), size=13, va="center")
    where = f"{plan.target}, {plan.engine}, temperature {plan.temperature:g}, {plan.machine}"
    figure.text(0.03, 0.055, _cut(where, 150), size=10, color=_MUTED)
    figure.text(0.03, 0.02, f"Measured on {plan.made}.", size=10, color=_MUTED)
    _bars(bars, plan)
    _curve(curve, plan)
    for axes in (bars, curve):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    content = BytesIO()
    figure.savefig(content, format="png", dpi=150)
    return content.getvalue()


def _bars(axes: Any, plan: Plan) -> None:
    rows = shortlist(plan)[:_BARS]
    speeds = [row.predicted_speedup for row in rows]
    around = [
        [r.predicted_speedup - r.low for r in rows],
        [r.high - r.predicted_speedup for r in rows],
    ]
    colours = [_FILL if speed >= 1 else _SLOW for speed in speeds]
    axes.barh(range(len(rows)), speeds, 0.6, color=colours)
    axes.errorbar(speeds, range(len(rows)), xerr=around, fmt="none", ecolor=_INK, capsize=4)
    axes.axvline(1, color="0.2", linewidth=1.3, label="plain, 1x")
    axes.axvline(plan.threshold, color=_ASKED, linestyle="--", label=f"asked, {plan.threshold:g}x")
    for place, row in enumerate(rows):
        axes.annotate(
            f"{row.predicted_speedup:.2f}x", (reach(row), place), (8, 0),
            textcoords="offset points", va="center", weight="bold" if row == plan.best else None,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )  # fmt: skip
        if row.measured_speedup is not None:
            axes.plot(
                row.measured_speedup, place, "o", color="white", markeredgecolor="black",
                markersize=8, label=f"measured, {row.measured_speedup:.2f}x",
            )  # fmt: skip
    names = [f"{_cut(label(row), 27)}, γ {row.draft_len}" for row in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12 * max([plan.threshold, *map(reach, rows)]))
    axes.xaxis.set_major_formatter("{x:g}x")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.92")
    axes.set_title("Speed over plain decoding, 95 % interval", size=12, loc="left")
    axes.legend(frameon=False, ncols=3, loc="upper right", bbox_to_anchor=(1, -0.06), fontsize=9)


def _curve(axes: Any, plan: Plan) -> None:
    found = plan.verify_curve
    axes.axhline(1, color="0.2", linewidth=1.3)
    axes.plot(found.rows, found.ratio, "o-", color=_FILL, linewidth=2, clip_on=False)
    axes.set_xticks(found.rows)
    axes.set_ylim(0, 1.1 * max(1.5, *found.ratio))
    axes.grid(axis="y", color="0.92")
    axes.set_xlabel("rows a pass (γ + 1)")
    axes.set_title("Price of a target pass, in plain steps", size=12, loc="left")


def _cut(text: str, most: int) -> str:
    """Text that is a name, not mathematics, however long."""
    return (text if len(text) <= most else text[: most - 1] + "…").replace("$", r"\$")
