"""A plan as one HTML page that needs nothing else: no script, and nothing from elsewhere."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template

from foredraft.planner import charts
from foredraft.planner.plan import Plan
from foredraft.planner.what_if import WhatIf, what_if
from foredraft.planner.what_if_wording import (
    ASSUMED,
    along,
    draft_models_table,
    loads_table,
    stops_paying,
    supposed,
    temperatures_table,
)
from foredraft.planner.wording import (
    COLUMNS,
    HEADLINES,
    cells,
    expected,
    label,
    method,
    ms,
    reach,
    shortlist,
    versus,
)

_TEMPLATE = Path(__file__).with_name("report.html")


def page(plan: Plan) -> str:
    """The page, whole."""
    found = what_if(plan)
    parts = [_head(plan), _settings(plan), _kinds(plan), _curve(plan), _loads(plan, found)]
    parts += [_temperatures(plan), _draft_models(plan, found), _method(plan)]
    template = Template(_TEMPLATE.read_text(encoding="utf-8"))
    title = escape(f"{HEADLINES[plan.verdict]}: {plan.target}")
    return template.substitute(title=title, body="\n".join(part for part in parts if part))


def _head(plan: Plan) -> str:
    best = plan.best
    hero = told = ""
    if best is not None:
        hero = (
            f'<p class="hero"><strong>{best.predicted_speedup:.2f}x</strong> '
            f"<span>{escape(expected(best))}</span></p>"
        )
        told = f"<p><b>{versus(best)}</b></p>" if best.measured_speedup is not None else ""
    facts = {
        "Target": f"{plan.target}, {plan.engine}",
        "Temperature": f"{plan.temperature:g}",
        "A plain token": f"{ms(plan.plain_step_s)} ms",
        "Asked for": f"{plan.threshold:g}x",
        "Machine": plan.machine,
    }
    listed = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return (
        f'<header><p class="name">foredraft plan</p>'
        f'<h1 class="{plan.verdict}">{HEADLINES[plan.verdict]}</h1>{hero}'
        f"<p>{escape(plan.why)}</p>{told}<dl>{listed}</dl>"
        "</header>"
    )


def _settings(plan: Plan) -> str:
    shown = shortlist(plan)
    if not shown:
        return ""
    most = 1.02 * max(plan.threshold, *map(reach, shown))
    bars = [
        f"<li{_best(row == plan.best)}><span>{escape(label(row))}, γ {row.draft_len}</span>"
        f"<b>{row.predicted_speedup:.2f}x</b>"
        + charts.bar(
            row.predicted_speedup, most, plan.threshold, (row.low, row.high), row.measured_speedup
        )
        + "</li>"
        for row in shown
    ]
    rows = [_row(cells(row), row == plan.best) for row in plan.rows]
    return _section(
        "What each drafter would bring",
        '<p class="muted">Speed over plain decoding, with the best draft lengths γ of each.</p>',
        _key(plan),
        f'<ul class="bars">{"".join(bars)}</ul>',
        f"<details><summary>All {len(plan.rows)} settings, ranked</summary>",
        _table("Every drafter and draft length", COLUMNS, rows),
        "</details>",
    )


def _key(plan: Plan) -> str:
    def sign(mark: str, text: str) -> str:
        return f'<span><svg aria-hidden="true">{mark}</svg> {text}</span>'

    marks = [
        sign('<line class="plain" x1="11" x2="11" y1="0" y2="12"/>', "plain, 1x"),
        sign('<line class="asked" x1="11" x2="11" y1="0" y2="12"/>', f"asked, {plan.threshold:g}x"),
        sign('<line class="whisker" x1="2" x2="20" y1="6" y2="6"/>', "95 % interval"),
    ]
    if plan.best is not None and plan.best.measured_speedup is not None:
        marks.append(sign('<circle class="measured" cx="11" cy="6" r="5"/>', "measured"))
    return f'<p class="key muted">{" ".join(marks)}</p>'


def _kinds(plan: Plan) -> str:
    if not plan.kinds:
        return ""
    most = 1.02 * max(plan.threshold, *(kind.predicted_speedup for kind in plan.kinds.values()))
    bars = []
    for name, kind in plan.kinds.items():
        count = f"{kind.prompts} prompt{'s' * (kind.prompts > 1)}"
        rates = " ".join(f"{rate:.2f}" for rate in kind.acceptance) or "nothing drafted"
        bars.append(
            f"<li><span>{escape(name)}, {count}</span><b>{kind.predicted_speedup:.2f}x</b>"
            f"{charts.bar(kind.predicted_speedup, most, plan.threshold)}"
            f"<small>α by draft position: {rates}</small></li>"
        )
    return _section("By kind of prompt", f'<ul class="bars">{"".join(bars)}</ul>')


def _curve(plan: Plan) -> str:
    found = plan.verify_curve
    prices = ["v", *(f"{price:.2f}" for price in found.ratio)]
    return _section(
        "What verification costs here",
        f"<figure>{charts.curve(found)}<figcaption>A target pass over n rows in "
        "plain steps, v(n): checking γ drafted tokens takes γ + 1 rows. At 1 it would be free."
        "</figcaption></figure>",
        _table("v(n), measured", ("rows", *map(str, found.rows)), [_row(prices)]),
    )


def _loads(plan: Plan, found: WhatIf) -> str:
    if plan.best is None:
        return ""
    names, rows = loads_table(plan, found)
    return _section(
        "What if more sequences are decoded together?",
        f"<p>{stops_paying(found)}</p>",
        _table(f"Speed over a plain batch, with {label(plan.best)}", names, map(_row, rows)),
        f'<p class="muted">{ASSUMED}</p>',
    )


def _temperatures(plan: Plan) -> str:
    if not plan.temperatures:
        return ""
    names, rows = temperatures_table(plan)
    return _section(
        "What if the temperature were another?",
        _table("Speed over plain decoding at the best γ", names, map(_row, rows)),
        f'<p class="muted">{along(plan)}</p>',
    )


def _draft_models(plan: Plan, found: WhatIf) -> str:
    names, rows = draft_models_table(plan, found)
    return _section(
        supposed(plan),
        '<p class="muted">By α, how often a drafted token is accepted (another temperature moves '
        "it), and c, what drafting it costs in plain steps; by the formula, for an α that is the "
        "same at every position.</p>",
        _table("Speed over plain decoding at the best γ", names, map(_row, rows)),
    )


def _method(plan: Plan) -> str:
    notes = "".join(f"<p>{escape(note)}</p>" for note in plan.notes)
    made = f'<p class="muted">Measured on {escape(plan.made)}.</p>'
    return _section("How this was found", f"<p>{escape(method(plan))}</p>", notes, made)


def _section(heading: str, *parts: str) -> str:
    return f"<section><h2>{escape(heading)}</h2>{''.join(parts)}</section>"


def _table(caption: str, names: Sequence[str], rows: Iterable[str]) -> str:
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(cells: Sequence[str], best: bool = False) -> str:
    head, *rest = map(escape, cells)
    made = "".join(f"<td>{cell}</td>" for cell in rest)
    return f'<tr{_best(best)}><th scope="row">{head}</th>{made}</tr>'


def _best(is_best: bool) -> str:
    return ' class="best"' if is_best else ""
