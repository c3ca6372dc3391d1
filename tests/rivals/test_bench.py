"""A measurement from the first request to what it says, against fake servers."""

import json
from contextlib import ExitStack, closing

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.rivals.answer import Answer
from foredraft.rivals.bench import INTERRUPTED, Bench, measure
from foredraft.rivals.findings import as_object, figures, notes, rows
from foredraft.rivals.openai import Question, Server
from foredraft.rivals.pairs import OFF, ON, Run
from foredraft.rivals.prompts import Sample
from tests.rivals.fake import DIE, chunk, json_page, saying, serving
from tests.rivals.pages import LLAMA_TIMINGS, llama_page, metrics

SAMPLES = [
    Sample(i, kind, [{"role": "user", "content": i}]) for i, kind in (("a", "copy"), ("b", "free"))
]


def bench(on, off=None, repeats=2, temperature=0.0, progress=lambda what, done, total: None):
    """Measure the fakes; the same fake on both sides is one server that switches."""
    with ExitStack() as stack:
        sides = {
            side: stack.enter_context(closing(Server.at(fake.url, 5.0)))
            for side, fake in ((ON, on), (OFF, off))
            if fake is not None
        }
        return measure(sides, SAMPLES, Question([], 8, temperature), repeats, progress)


def slowly(*pieces, pause, **more):
    """A stream with `pause` seconds before each piece."""

    def stream(body):
        for item in saying(*pieces, **more):
            yield pause
            yield item

    return stream


def test_two_servers_side_by_side() -> None:
    drafted = slowly(
        "a", "b", "c", pause=0.004, tokens=6, timings=LLAMA_TIMINGS | {"predicted_n": 6}
    )
    with serving(drafted) as on, serving(slowly("a", "b", "c", pause=0.02)) as off:
        seen = []
        found = bench(on, off, progress=lambda *news: seen.append(news))
    assert found.error is None
    assert [(run.side, run.prompt, run.repeat) for run in found.runs[:4]] == [
        ("on", "a", 0), ("off", "a", 0), ("off", "b", 0), ("on", "b", 0),
    ]  # fmt: skip
    assert [one.verdict for one in found.parity] == ["same", "same"]
    assert (found.counts(ON)[0].drafted, found.counts(OFF)) == (4 * 26, [])
    assert ("Asking", 8, 8) in seen
    value = as_object(found, SAMPLES, {"model": "m"})
    assert value["speedup"]["value"] > 3
    assert value["speedup"]["n"] == 2
    json.dumps(value, allow_nan=False)


def test_the_first_request_is_not_measured() -> None:
    with serving() as on:
        found = bench(on, repeats=1)
    assert (len(on.asked), len(found.runs), found.parity) == (3, 2, None)
    assert on.asked[0][0]["max_tokens"] == 4


def test_above_temperature_0_texts_are_not_compared() -> None:
    with serving() as on, serving() as off:
        assert bench(on, off, temperature=0.5).parity is None


def test_what_is_measured_is_kept_when_a_server_dies() -> None:
    answers = iter([saying("a", "b")] * 3 + [[chunk("a"), DIE]])
    with serving(lambda body: next(answers)) as on:
        found = bench(on)
    assert len(found.runs) == 2
    assert "broke off" in found.error
    assert as_object(found, SAMPLES, {})["complete"] is False


def test_what_is_measured_is_kept_after_ctrl_c() -> None:
    def progress(what, done, total):
        if done == 3:
            raise KeyboardInterrupt

    with serving() as on:
        found = bench(on, progress=progress)
    assert (len(found.runs), found.error) == (3, INTERRUPTED)


def test_a_server_that_cannot_answer_at_all_is_an_error() -> None:
    with (
        serving() as on,
        serving(chat=(500, "text/plain", "")) as off,
        pytest.raises(ForedraftError, match="refused"),
    ):
        bench(on, off)


def test_metrics_are_read_before_and_after() -> None:
    pages = iter(
        [llama_page(100, 4.0, 30, 18, 10, (9, 9)), llama_page(108, 5.0, 50, 28, 16, (15, 13))]
    )
    with serving(metrics=lambda: metrics(next(pages))) as on:
        found = bench(on)
    (counts,) = found.counts(ON)
    assert (counts.drafted, counts.accepted, counts.per_position) == (20, 10, (6, 4))
    assert not any("others" in note for note in notes(found))


def test_one_server_on_both_sides_has_one_page() -> None:
    pages = iter([llama_page(0, 0, 0, 0, 0), llama_page(16, 5.0, 20, 10, 6)])
    with serving(metrics=lambda: metrics(next(pages))) as both:
        found = bench(both, both)
    assert list(found.totals) == [ON]
    assert not any("others" in note or "baseline" in note for note in notes(found))


def differing(on, tokens):
    """Both sides' texts part after "The tide", and only the off side explains its own."""
    whole = {
        "choices": [{"message": {"content": "The tide comes"}, "logprobs": {"content": tokens}}]
    }
    with (
        serving(lambda body: saying("The tide", on)) as left,
        serving(
            lambda body: saying("The tide", " comes"), whole=lambda body: json_page(whole)
        ) as right,
    ):
        found = bench(left, right, repeats=1)
    assert all("logprobs" not in body for body, _ in left.asked)
    return found.parity


def test_a_text_that_differs_is_explained_by_the_side_without_speculation() -> None:
    top = [{"token": " comes", "logprob": -0.7}, {"token": " rises", "logprob": -0.75}]
    tokens = [{"token": "The tide"}, {"token": " comes", "logprob": -0.7, "top_logprobs": top}]
    assert [one.verdict for one in differing(" rises", tokens)] == ["near_tie"] * 2
    assert [one.verdict for one in differing(" goes", tokens)] == ["different"] * 2
    assert [one.verdict for one in differing(" goes", None)] == ["unknown"] * 2


def answer(speed, tokens=11, counts=None):
    return Answer("text", tokens, 0.5, 10 / speed, (0.1, 0.3), "length", counts)


def made(**pairs):
    """A Bench of each prompt's pairs of speeds (on, off), one a repeat."""
    runs = [
        Run(prompt, repeat, side, answer(speed))
        for prompt, speeds in pairs.items()
        for repeat, pair in enumerate(speeds)
        for side, speed in zip((ON, OFF), pair, strict=True)
    ]
    return Bench({ON: "http://on", OFF: "http://off"}, runs)


def test_figures() -> None:
    found = figures([answer(10), answer(20), answer(40), answer(99, tokens=None)])
    assert (found.n, found.tokens_per_s, found.low, found.high) == (4, 20, 10, 40)
    assert (found.first_s, found.gap_s) == (0.5, pytest.approx(0.2))
    assert found.gap_p95_s == pytest.approx(0.3)
    assert figures([]).tokens_per_s is None


def test_a_row_has_the_mean_of_its_pairs_and_their_spread() -> None:
    (row,) = rows(made(a=[(20, 10), (80, 10)]), SAMPLES)
    assert (row.prompt, row.kind, row.speedup) == ("a", "copy", pytest.approx(4))
    assert (row.low, row.high) == (pytest.approx(2), pytest.approx(8))
    assert (row.on.tokens_per_s, row.off.tokens_per_s) == (50, 10)


def test_half_a_pair_has_no_speedup() -> None:
    half = Bench({ON: "http://on", OFF: "http://off"}, [Run("a", 0, ON, answer(10))])
    (row,) = rows(half, SAMPLES)
    assert (row.speedup, row.low, row.off.n) == (None, None, 0)
    assert as_object(half, SAMPLES, {})["speedup"] is None


def test_a_server_without_counters_may_not_draft() -> None:
    assert list(notes(made(a=[(20, 10)]))) == [
        "http://on shows no counters of drafted tokens, so it may not have drafted at all."
    ]


def test_a_server_that_remembers_is_found_out() -> None:
    learned = made(a=[(20, 10), (30, 10)], b=[(10, 10), (16, 10)], c=[(20, 20), (31, 20)])
    assert any("gained 1.26x and later ones 1.55 times that" in note for note in notes(learned))
    by_chance = made(a=[(20, 10), (30, 10)], b=[(10, 10), (9, 10)])
    assert not any("remembers" in note for note in notes(by_chance))
    once = made(a=[(20, 10)], b=[(10, 10)])
    assert not any("remembers" in note for note in notes(once))


def test_a_baseline_that_drafts_is_none() -> None:
    with serving(lambda body: saying("a", "b", timings=LLAMA_TIMINGS)) as on:
        found = bench(on, on, repeats=1)
    assert any("drafted 52 tokens as the plain side" in note for note in notes(found))


def test_a_server_that_drafts_nothing_or_answers_others() -> None:
    pages = iter([llama_page(0, 0, 0, 0, 0), llama_page(99, 5.0, 0, 0, 0)])
    with serving(metrics=lambda: metrics(next(pages))) as on:
        said = " ".join(notes(bench(on)))
    assert "drafted nothing" in said
    assert "answered others meanwhile" in said


def test_a_server_that_does_not_count_tokens() -> None:
    with serving(lambda body: [chunk("a"), chunk("b"), chunk(finish="stop")]) as on:
        found = bench(on)
    assert any("does not count its tokens" in note for note in notes(found))
    assert as_object(found, SAMPLES, {})["sides"]["on"]["generated"] is None
