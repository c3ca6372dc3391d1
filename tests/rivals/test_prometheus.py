import pytest

from foredraft.rivals.counters import Counts
from foredraft.rivals.prometheus import Totals, read_totals
from tests.rivals.pages import foredraft_page, llama_page, vllm_page


def test_llama_server() -> None:
    totals = read_totals(llama_page(500, 12.5, 300, 180, 100, (90, 60, 30), running=2))
    assert totals == Totals("llama-server", 500, 2, 12.5, 100, 300, 180, (90, 60, 30))
    assert totals.counts() == Counts(
        "llama-server /metrics", 300, 180, drafts=100, per_position=(90, 60, 30)
    )


def test_foredraft_tells_what_was_rejected() -> None:
    page = foredraft_page(500, 12.5, 300, 180, 70, 100, (90, 60, 30), running=2)
    totals = read_totals(page)
    assert totals == Totals("foredraft", 500, 2, 12.5, 100, 300, 180, (90, 60, 30), 70)
    counts = totals.counts()
    assert (counts.rejected, counts.ignored, counts.drafts) == (70, 50, 100)
    assert counts.acceptance_rate == 180 / 250
    later = read_totals(foredraft_page(600, 15.0, 360, 220, 90, 120, (110, 75, 35)))
    assert later.since(totals) == Totals("foredraft", 100, 0, 2.5, 20, 60, 40, (20, 15, 5), 20)


def test_vllm_sums_its_engines() -> None:
    totals = read_totals(vllm_page(500, 300, 180, 100, (90, 60, 30), engines=("0", "1")))
    assert totals == Totals("vLLM", 1000, 2, None, 200, 600, 360, (180, 120, 60))


def test_vllms_full_drafts_tell_what_was_rejected() -> None:
    full = read_totals(vllm_page(500, 300, 180, 100, (90, 60, 30))).counts()
    assert (full.rejected, full.ignored) == (70, 50)
    shorter = read_totals(vllm_page(500, 290, 180, 100, (90, 60, 30))).counts()
    assert (shorter.rejected, shorter.ignored) == (None, None)


def test_vllm_without_speculation_counts_no_drafts() -> None:
    totals = read_totals(vllm_page(500, None, None, None, ()))
    assert (totals.generated, totals.drafted, totals.counts()) == (500, None, None)


@pytest.mark.parametrize("text", ["", "<html>hello</html>", "sglang:spec_accept_rate 0.7\n", "{]"])
def test_other_pages_are_none(text: str) -> None:
    assert read_totals(text) is None


def test_what_came_since() -> None:
    before = read_totals(llama_page(100, 4.0, 30, 18, 10, (9,)))
    after = read_totals(llama_page(180, 6.0, 50, 28, 16, (14, 3), running=1))
    assert after.since(before) == Totals("llama-server", 80, 1, 2.0, 6, 20, 10, (5, 3))


def test_a_server_started_anew_starts_at_nothing() -> None:
    before = read_totals(llama_page(100, 4.0, 30, 18, 10))
    after = read_totals(llama_page(20, 1.0, 6, 3, 2))
    assert after.since(before) == after
