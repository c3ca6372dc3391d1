"""The verdict on what was predicted, and the reasons in words."""

from collections.abc import Mapping, Sequence

from foredraft.planner.plan import Choice, Kind, Verdict, VerifyCurve

_DEAR = 1.8
"""v(4) above which verification is called expensive."""
_HEAVY = 0.3
"""c above which a draft is called heavy."""
_RARE = 0.5
"""α below which a draft model is said to agree too seldom."""


def judge(best: Choice | None, threshold: float) -> Verdict:
    """`use` where the whole interval reaches the threshold, `do_not` where none of it does.

    Where the best was also run, what was measured must say the same.
    """
    if best is None or best.high < threshold:
        verdict = Verdict.DO_NOT
    elif best.low >= threshold:
        verdict = Verdict.USE
    else:
        return Verdict.MEASURE_LONGER
    measured = None if best is None else best.measured_speedup
    if measured is not None and (measured >= threshold) is not (verdict is Verdict.USE):
        return Verdict.MEASURE_LONGER
    return verdict


def explain(
    verdict: Verdict,
    best: Choice | None,
    rows: Sequence[Choice],
    curve: VerifyCurve,
    kinds: Mapping[str, Kind],
    threshold: float,
) -> str:
    """One plain paragraph: what to do, what to expect, and what it is that helps or hinders."""
    if best is None:
        return "Do not speculate: no drafter proposed anything for these prompts."
    what = f"{named(best)} with {best.draft_len} token{'s' * (best.draft_len > 1)} a round"
    expected = f"{best.predicted_speedup:.2f}x of plain ({best.low:.2f}x to {best.high:.2f}x)"
    if best.measured_speedup is not None:
        expected += f", measured {best.measured_speedup:.2f}x"
    match verdict:
        case Verdict.USE:
            first = f"Use {what}: it is expected to reach {expected}."
            return " ".join([first, _price(best, curve), *_spread(kinds)])
        case Verdict.DO_NOT:
            first = (
                f"Do not speculate: the best found, {what}, is expected to reach {expected}, under "
                f"the {threshold:g}x asked for."
            )
            return " ".join([first, *_reasons(rows, curve), *_spread(kinds)])
    first = (
        f"Measure longer: the best found, {what}, is expected to reach {expected}, which leaves "
        f"open whether it is worth {threshold:g}x; give more --prompts, --tokens or --budget."
    )
    return " ".join([first, _price(best, curve), *_spread(kinds)])


def named(choice: Choice) -> str:
    """A choice's drafter as people say it."""
    if choice.draft is None:
        return f"the {choice.drafter} lookup"
    kind = "draft model" if choice.drafter == "model" else f"{choice.drafter} head"
    return f"the {kind} {choice.draft}"


def _price(best: Choice, curve: VerifyCurve) -> str:
    rows = best.draft_len + 1
    price = at(curve, rows)
    drafting = f"a drafted token costs {best.cost_ratio:.2f} and " if best.draft else ""
    return (
        f"{best.acceptance_rate:.0%} of its judged tokens are accepted; {drafting}a pass over "
        f"{rows} rows costs {price:.2f} plain steps."
    )


def _reasons(rows: Sequence[Choice], curve: VerifyCurve) -> list[str]:
    found = []
    if (four := at(curve, 4)) >= _DEAR:
        found.append(
            f"Verification is expensive here: a pass over 4 rows costs {four:.1f} plain steps, so "
            "only near-certain drafts pay."
        )
    for name in dict.fromkeys(row.draft for row in rows if row.draft):
        (cost, rate) = next((r.cost_ratio, r.acceptance_rate) for r in rows if r.draft == name)
        if cost >= _HEAVY:
            found.append(f"The draft {name} is heavy: a token of it costs {cost:.2f} plain steps.")
        if rate < _RARE:
            found.append(f"It seldom agrees: {rate:.0%} of its first tokens are accepted.")
    if lookups := [row for row in rows if row.draft is None]:
        top = max(lookups, key=lambda row: row.predicted_speedup)
        if top.predicted_speedup < 1.1:
            found.append("Little in these answers repeats, so the lookups find little to copy.")
    return found


def _spread(kinds: Mapping[str, Kind]) -> list[str]:
    if len(kinds) < 2:
        return []
    most = max(kinds, key=lambda name: kinds[name].predicted_speedup)
    least = min(kinds, key=lambda name: kinds[name].predicted_speedup)
    return [
        f"It does best on {most} ({kinds[most].predicted_speedup:.2f}x) and worst on {least} "
        f"({kinds[least].predicted_speedup:.2f}x)."
    ]


def at(curve: VerifyCurve, rows: int) -> float:
    """v(rows): the price of the nearest row count that was measured, if not of that very one."""
    return min(zip(curve.rows, curve.ratio, strict=True), key=lambda pair: abs(pair[0] - rows))[1]
