"""The charts of a report, as inline SVG.

Places along a chart are percentages of its width and text is in pixels, so that it stays readable
on a phone; colours and strokes are the page's, by class.
"""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from foredraft.planner.plan import VerifyCurve


def bar(
    speedup: float,
    most: float,
    threshold: float,
    interval: tuple[float, float] | None = None,
    measured: float | None = None,
) -> str:
    """A speed-up as a bar on a scale from 0 to `most`, with lines at plain speed and at what was
    asked for; a whisker for its interval and a dot for what was measured."""

    def at(value: float) -> str:
        return f"{100 * value / most:.2f}%"

    said = f"{speedup:.2f}x"
    slow = " slow" if speedup < 1 else ""
    parts = [f'<rect class="fill{slow}" y="4" width="{at(speedup)}" height="14" rx="2"/>']
    for value, kind in ((1.0, "plain"), (threshold, "asked")):
        parts.append(f'<line class="{kind}" x1="{at(value)}" x2="{at(value)}" y1="0" y2="22"/>')
    if interval is not None:
        low, high = interval
        said += f", between {low:.2f}x and {high:.2f}x"
        parts.append(f'<line class="whisker" x1="{at(low)}" x2="{at(high)}" y1="11" y2="11"/>')
        parts += [
            f'<line class="whisker" x1="{at(end)}" x2="{at(end)}" y1="7" y2="15"/>'
            for end in interval
        ]
    if measured is not None:
        said += f", measured {measured:.2f}x"
        parts.append(f'<circle class="measured" cx="{at(measured)}" cy="11" r="5"/>')
    return _svg("bar", 22, said, parts)


def curve(found: VerifyCurve) -> str:
    """v(n) over n, with a line at 1, where verification would be free."""
    height, floor, left, right = 220, 194, 9.0, 97.0
    last = max(2, found.rows[-1])
    top = max(1.5, 1.08 * max(found.ratio))

    def x(rows: float) -> str:
        return f"{left + (right - left) * (rows - 1) / (last - 1):.2f}%"

    def y(ratio: float) -> str:
        return f"{floor - (floor - 10) * ratio / top:.1f}"

    step = next(step for step in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000) if top / step <= 5)
    parts = []
    for tick in range(int(top / step) + 1):
        level = y(tick * step)
        parts.append(f'<line class="grid" x1="{left}%" x2="100%" y1="{level}" y2="{level}"/>')
        parts.append(
            f'<text x="{left - 1.5}%" y="{level}" dy="4" text-anchor="end">{tick * step:g}</text>'
        )
    free = y(1)
    parts.append(f'<line class="plain" x1="{left}%" x2="100%" y1="{free}" y2="{free}"/>')
    points = list(zip(found.rows, found.ratio, strict=True))
    for (n, price), (m, dearer) in pairwise(points):
        ends = f'x1="{x(n)}" y1="{y(price)}" x2="{x(m)}" y2="{y(dearer)}"'
        parts.append(f'<line class="trace" {ends}/>')
    for n, price in points:
        parts.append(f'<circle class="dot" cx="{x(n)}" cy="{y(price)}" r="4"/>')
        parts.append(f'<text x="{x(n)}" y="{height - 6}" text-anchor="middle">{n}</text>')
    prices = ", ".join(f"{price:.2f} for {n}" for n, price in points)
    return _svg("curve", height, f"What a pass costs in plain steps, by its rows: {prices}", parts)


def _svg(kind: str, height: int, said: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="{kind}" width="100%" height="{height}" role="img" '
        f'aria-label="{escape(said)}">{"".join(parts)}</svg>'
    )
