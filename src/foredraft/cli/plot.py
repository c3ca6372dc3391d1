"""Pictures for files, drawn with matplotlib, which is imported only when one is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foredraft.core.errors import ForedraftError


@dataclass(frozen=True, slots=True)
class Curve:
    """Speed-up at γ = 0, 1, 2, …; the draft lengths in `marked` get a dot."""

    label: str
    speedups: Sequence[float]
    marked: Sequence[int]


def draw_speedups(path: Path, curves: Sequence[Curve]) -> None:
    """Write speed-up over draft length to `path`, in the format its ending names."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise ForedraftError(
            "--plot needs matplotlib; install it with: pip install 'foredraft[plot]'."
        ) from None
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    axes.axhline(1, color="0.3", linewidth=1.2, linestyle="--", zorder=1)
    for curve in curves:
        gammas = range(len(curve.speedups))
        axes.plot(gammas, curve.speedups, "-", label=curve.label, linewidth=2)
        colour = axes.lines[-1].get_color()
        dots = [curve.speedups[gamma] for gamma in curve.marked]
        axes.plot(curve.marked, dots, "o", color=colour, markersize=5, clip_on=False)
    low, high = axes.get_ylim()
    axes.set_ylim(max(0, min(low, 0.9)), high)
    axes.axhspan(0, 1, color="tab:red", alpha=0.06, zorder=0)
    last = max(len(curve.speedups) for curve in curves) - 1
    axes.set_xlim(0, last)
    axes.text(last, 1, "plain decoding, 1x ", ha="right", va="bottom", color="0.3", fontsize=9)
    axes.set_title("What speculation gains, by draft length")
    axes.set_xlabel("γ, tokens drafted a round")
    axes.set_ylabel("speed over plain decoding")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter("{x:.1f}x")
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    axes.legend(title="acceptance rate α, cost ratio c", frameon=False)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise ForedraftError(f"The picture cannot be written to {path}: {error}.") from None
