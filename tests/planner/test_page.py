import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from foredraft.planner.page import page
from foredraft.planner.plan import AtTemperature, Choice, Kind, Plan, Verdict
from tests.planner.test_plan import BEST, PLAN

VOID = {"meta", "rect", "line", "circle"}
EVIL = '<script>alert("1")</script> & Söhne'
LOOKUP = Choice("ngram", 2, 0.43, 0.001, 0.87, 0.81, 0.93, 0.057)
RAN = replace(BEST, measured_speedup=1.45)
FULL = replace(
    PLAN,
    verdict=Verdict.MEASURE_LONGER,
    best=RAN,
    rows=(RAN, LOOKUP),
    kinds={"code": Kind(2, 1.9, (0.81, 0.72)), "free": Kind(1, 0.95, ())},
    notes=("The machine was busy.",),
    made="2030-01-02, foredraft 9.9",
    temperatures=(AtTemperature(0.0, (RAN, LOOKUP)), AtTemperature(1.0, (LOOKUP, RAN))),
)


class Reader(HTMLParser):
    """Checks that tags nest, and keeps text, tags and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(plan: Plan) -> Reader:
    reader = Reader()
    reader.feed(page(plan))
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("plan", [PLAN, FULL, replace(PLAN, best=None, kinds={})])
def test_it_is_well_formed_and_needs_nothing_from_elsewhere(plan: Plan) -> None:
    reader = read(plan)
    assert not re.search(r"https?:|url\(|@import|<script|<link|<img", page(plan))
    assert not any({"src", "href", "style", "onclick"} & set(attrs) for _, attrs in reader.tags)
    assert "$" not in reader.text


def test_it_holds_every_number() -> None:
    text = read(FULL).text
    for row in FULL.rows:
        for value in (
            row.acceptance_rate,
            row.cost_ratio,
            row.predicted_speedup,
            row.low,
            row.high,
        ):
            assert f"{value:.2f}" in text
        assert f"{1000 * row.token_s:.1f}" in text
    for ratio in FULL.verify_curve.ratio:
        assert f"{ratio:.2f}" in text
    for kind in FULL.kinds.values():
        assert f"{kind.predicted_speedup:.2f}x" in text
        assert " ".join(f"{rate:.2f}" for rate in kind.acceptance) in text
    assert "50.0 ms" in text


def test_it_says_what_was_found_and_how() -> None:
    text = read(FULL).text
    for said in (
        "Measure longer",
        "1.50xof plain speed",
        "1.30x to 1.70x",
        "It pays.",
        "Predicted 1.50x, measured 1.45x: the prediction was 3.4% too high.",
        "big.gguf, llama.cpp",
        "a processor",
        "answered 3 prompts",
        "What if more sequences are decoded together?",
        "What if small.gguf agreed more often, or cost less?",
        "The machine was busy.",
        "Measured on 2030-01-02, foredraft 9.9.",
        "asked, 1.2x",
        "nothing drafted",
    ):
        assert said in text.replace("</strong> ", "").replace("x of", "xof")


def test_whatever_a_person_named_is_text() -> None:
    best = replace(BEST, draft=EVIL)
    plan = replace(
        PLAN, target=EVIL, machine=EVIL, why=EVIL, best=best, rows=(best,), notes=(EVIL,),
        kinds={EVIL: Kind(1, 1.2, (0.5,))},
    )  # fmt: skip
    reader = read(plan)
    assert reader.text.count(EVIL) >= 8
    assert "script" not in {tag for tag, _ in reader.tags}


def test_it_can_be_read_without_seeing_the_charts() -> None:
    tags = read(FULL).tags
    assert next(tag for tag, _ in tags if tag[0] == "h" and tag[1:].isdigit()) == "h1"
    assert sum(tag == "h1" for tag, _ in tags) == 1
    charts = [attrs for tag, attrs in tags if tag == "svg" and attrs.get("aria-hidden") != "true"]
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in charts)
    assert "1.50x, between 1.30x and 1.70x, measured 1.45x" in {c["aria-label"] for c in charts}
    assert all("scope" in attrs for tag, attrs in tags if tag == "th")
    assert sum(tag == "table" for tag, _ in tags) == sum(tag == "caption" for tag, _ in tags)
    assert ("html", {"lang": "en"}) in tags


def test_the_lines_and_bars_are_where_their_numbers_are() -> None:
    found = page(FULL)
    most = 1.02 * 1.7  # the end of the best's interval
    assert f'width="{100 * 1.5 / most:.2f}%"' in found
    assert f'<line class="plain" x1="{100 / most:.2f}%"' in found
    assert f'<circle class="measured" cx="{100 * 1.45 / most:.2f}%"' in found
    assert 'class="fill slow"' in found
    # v(1) = 1 and v(2) = 1.1 of at most 1.5, over 184 pixels
    assert 'cy="71.3"' in found
    assert f'cy="{194 - 184 * 1.1 / 1.5:.1f}"' in found


def test_light_and_dark_and_narrow() -> None:
    found = page(PLAN)
    assert "prefers-color-scheme: dark" in found
    assert 'name="viewport" content="width=device-width' in found


def test_other_temperatures_are_there_where_they_were_looked_at() -> None:
    text = read(FULL).text
    assert "What if the temperature were another?" in text
    assert "0, as planned" in text
    assert "plain, α 0.43" in text
    assert "What if the temperature" not in read(PLAN).text
