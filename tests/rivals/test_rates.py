from contextlib import closing, contextmanager

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.rivals.openai import Server
from foredraft.rivals.prometheus import read_totals
from foredraft.rivals.rates import Watch, counted, hint, rates
from tests.rivals.fake import json_page, serving
from tests.rivals.pages import llama_page, metrics, vllm_page


def test_rates_of_llama_server() -> None:
    found = rates(read_totals(llama_page(100, 4.0, 60, 40, 20, (18, 14, 8), running=1)), 8.0)
    assert (found.tokens_per_s, found.decode_tokens_per_s) == (12.5, 25.0)
    assert found.accepted_of_drafted == pytest.approx(2 / 3)
    assert found.tokens_per_target_pass == pytest.approx(100 / 60)
    assert found.per_position == (0.9, 0.7, 0.4)
    assert (found.drafts, found.drafted, found.accepted, found.running) == (20, 60, 40, 1)


def test_rates_of_vllm_without_speculation() -> None:
    found = rates(read_totals(vllm_page(100, None, None, None, ())), 8.0)
    assert found.tokens_per_s == 12.5
    assert (found.drafted, found.accepted_of_drafted, found.per_position) == (None, None, None)
    assert (found.tokens_per_target_pass, found.decode_tokens_per_s) == (None, None)


def test_nothing_happened() -> None:
    found = rates(read_totals(llama_page(0, 0, 0, 0, 0)), 2.0)
    assert (found.tokens_per_s, found.decode_tokens_per_s, found.accepted_of_drafted) == (
        0,
        None,
        None,
    )


def test_each_reading_since_the_last_and_all_since_the_first() -> None:
    pages = iter([llama_page(n, n / 10, n // 2, n // 4, n // 8) for n in (100, 180, 240)])
    seen = Watch(lambda: read_totals(next(pages)))
    assert seen.totals.generated == 100
    readings = seen.poll(0.01)
    assert [next(readings).generated for _ in range(2)] == [80, 60]
    assert (seen.summary().generated, seen.totals.generated) == (140, 240)
    assert seen.summary().seconds > 0.015


@contextmanager
def server(**pages):
    with serving(**pages) as fake, closing(Server.at(fake.url, 5.0)) as asked:
        yield asked


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (json_page({"error": {"message": "Start it with `--metrics`"}}, 501), "needs --metrics"),
        (
            (404, "text/plain", ""),
            "has no /metrics: foredraft serve has it, llama-server needs --metrics",
        ),
        ((200, "text/html", "<html>"), "no counters of foredraft, llama-server or vLLM"),
        (metrics("python_info 1.0\n"), "no counters of foredraft, llama-server or vLLM"),
    ],
)
def test_a_server_without_counters(page: tuple, said: str) -> None:
    with server(metrics=page) as asked, pytest.raises(ForedraftError, match=said):
        counted(asked)


@pytest.mark.parametrize(
    ("page", "speculative", "said"),
    [
        (llama_page(9, 1.0, 0, 0, 0), False, "--spec-type"),
        (llama_page(9, 1.0, 0, 0, 0), True, None),
        (llama_page(9, 1.0, 5, 3, 2), False, None),
        (vllm_page(9, None, None, None, ()), False, "--speculative-config"),
        (vllm_page(9, 0, 0, 0, ()), False, None),
    ],
)
def test_a_hint_where_it_is_sure_why_nothing_is_drafted(page, speculative, said) -> None:
    slots = (
        json_page([{"speculative": speculative}]) if page.startswith("#") else json_page({}, 404)
    )
    if "vllm" in page:
        slots = json_page({}, 404)
    with server(metrics=metrics(page), slots=slots) as asked:
        found = hint(asked, counted(asked))
    assert said in found if said else found is None
