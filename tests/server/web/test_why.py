"""The why view computes what foredraft.core computes."""

import re
from typing import Any

import pytest

from foredraft.core.speedup import best_gamma, expected_tokens, speedup
from tests.server.web.fake import CURVE
from tests.server.web.test_chat import ask
from tests.server.web.test_step import module


def test_formulas_are_those_of_the_core(open_page: Any) -> None:
    page = open_page("#why")
    cases = [
        (alpha, cost, gamma, curve)
        for alpha in (0.0, 0.37, 0.8, 1.0)
        for cost in (0.0, 0.3)
        for gamma in (0, 1, 5, 20)
        for curve in (None, CURVE, [1.0])
    ]
    found = page.evaluate(
        f"async (cases) => {{ const m = await import({module('speedup')});"
        "return cases.map(([a, c, g, v]) => [m.speedup(a, c, g, v), m.expectedTokens(a, g),"
        " m.bestGamma(a, c, v, 16).gamma]); }",
        cases,
    )
    for (alpha, cost, gamma, curve), (gain, tokens, best) in zip(cases, found, strict=True):
        assert gain == pytest.approx(speedup(alpha, cost, gamma, curve))
        assert tokens == pytest.approx(expected_tokens(alpha, gamma))
        assert best == best_gamma(alpha, cost, curve, limit=16)[0]


def test_sliders_move_the_result_and_the_text_beside_the_canvas(open_page: Any) -> None:
    page = open_page("#why")
    for name, value in (("alpha", "0.8"), ("gamma", "3"), ("cost", "0.1"), ("steep", "1")):
        page.fill(f"#why-{name}", value)
    expected = speedup(0.8, 0.1, 3, CURVE)
    assert page.inner_text("#why-gain") == f"{expected:.2f}×"
    gamma, gain = best_gamma(0.8, 0.1, CURVE, limit=16)
    assert page.inner_text("#why-best") == f"Best here: γ = {gamma}, {gain:.2f}×."
    assert f"{expected:.2f}×" in page.get_attribute("#surface", "aria-label")
    page.focus("#why-gamma")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#why-gain") == f"{speedup(0.8, 0.1, 4, CURVE):.2f}×"
    page.fill("#why-steep", "0")
    assert page.inner_text("#why-gain") == f"{speedup(0.8, 0.1, 4):.2f}×"
    page.fill("#why-cost", "1")
    assert page.inner_text("#why-best").startswith("No draft length gains")


def test_the_canvas_is_painted_and_can_be_picked_from(open_page: Any) -> None:
    page = open_page("#why")
    page.click("#surface", position={"x": 250, "y": 60})
    assert float(page.input_value("#why-alpha")) > 0.8
    colours = page.evaluate(
        "() => { const c = document.getElementById('surface'), pen = c.getContext('2d');"
        " const at = (x, y) => [...pen.getImageData(c.width * x, c.height * y, 1, 1).data];"
        " return [at(.9, .1), at(.9, .8)]; }"
    )
    (red, _, blue, _), (red_low, _, blue_low, _) = colours
    assert blue > red
    assert red_low > blue_low


def test_this_machine_is_what_was_measured_here(open_page: Any) -> None:
    page = open_page()
    page.click("#to-why")
    page.locator("#why-machine", has_text="α 0.62").wait_for()
    page.click("#to-chat")
    ask(page, "go")
    page.click("#to-why")
    told = "α 0.86, 4.0 tokens a draft in 40.0 % of the rounds, c 0.000"
    page.locator("#why-machine", has_text=told).wait_for()
    page.click("#why-mine")
    assert [page.input_value(f"#why-{name}") for name in ("alpha", "gamma")] == ["0.86", "4"]


@pytest.mark.parametrize(("rule", "follows_p"), [(False, True), (True, False)])
def test_the_toy_follows_p_and_the_known_bug_does_not(
    open_page: Any, rule: bool, follows_p: bool
) -> None:
    """100,000 samples: a distance over 0.01 would be more than six standard deviations."""
    page = open_page("#why")
    distance, rate, overlap = page.evaluate(
        f"async (wrongly) => {{ const m = await import({module('toy')});"
        "const q = m.draftLaw(0.3), tally = new m.Tally();"
        "for (let i = 0; i < 1e5; i += 1) tally.add(m.judge(m.P, q, Math.random, wrongly));"
        "return [tally.distance(m.P), tally.accepted / tally.samples, m.overlap(m.P, q)]; }",
        rule,
    )
    assert (distance < 0.01) is follows_p
    assert rate == pytest.approx(overlap, abs=0.01)


def test_the_toy_runs_and_tells(open_page: Any) -> None:
    page = open_page("#why", reduced_motion="no-preference")
    page.click("#toy-one")
    assert page.inner_text("#toy-told").startswith("The draft said")
    assert page.inner_text("#toy-sum").startswith("1 tokens")
    page.click("#toy-run")
    page.locator("#toy-sum", has_text=re.compile(r"^[1-9]\d\d+ tokens")).wait_for()
    page.click("#toy-run")
    assert page.inner_text("#toy-run") == "Run"
    page.select_option("#toy-rule", "wrong")
    assert page.inner_text("#toy-told") == "Nothing drawn yet."
