"""What passes cost."""

import json

import pytest

from foredraft.engine.prices import Prices

JAGGED = {1: 1.0, 2: 1.4, 3: 1.7, 4: 1.5, 8: 2.5}


def test_measured_counts_are_exact_and_the_rest_lies_between():
    prices = Prices(JAGGED)
    assert [prices.verify(n) for n in (1, 3, 4, 6, 8)] == [1.0, 1.7, 1.5, 2.0, 2.5]
    assert prices.verify(16) == 5.0, "nothing is promised beyond what was measured"
    assert Prices({1: 0.5}).verify(4) == 2.0
    assert prices.curve(4) == [1.0, 1.4, 1.7, 1.5]


def test_a_slower_machine_is_noticed_and_one_stall_is_not():
    prices = Prices(JAGGED)
    prices.observe_verify(4, 100.0)
    assert prices.verify(4) < 1.5 * 1.25
    for _ in range(100):
        prices.observe_verify(4, 3.0)
    assert prices.verify(4) == pytest.approx(3.0, rel=0.05)
    assert prices.verify(1) > 1.2, "a longer context makes every pass dearer"


def test_a_curve_that_was_measured_wrong_is_mended_where_it_is_used():
    prices = Prices(JAGGED)
    for _ in range(200):
        prices.observe_verify(1, 1.0)
        prices.observe_verify(4, 3.0)
    assert prices.verify(1) == pytest.approx(1.0, rel=0.1)
    assert prices.verify(4) == pytest.approx(3.0, rel=0.1)


def test_draft_prices_follow_too():
    prices = Prices(JAGGED, {"model": 0.1})
    for _ in range(100):
        prices.observe_draft("model", 4, 0.8)
        prices.observe_draft("ngram", 4, 0.8)
    assert prices.draft("model") == pytest.approx(0.2, rel=0.05)
    assert prices.draft("ngram") == 0.0, "a free drafter stays free"
    assert prices.read("model") == prices.draft("model"), "unless it was measured"
    assert Prices(JAGGED, {"model": 0.1}, None, {"model": 0.01}).read("model") == 0.01


def test_only_prices_that_drifted_are_written_again(tmp_path):
    path = tmp_path / "deeper" / "prices.json"
    prices = Prices(JAGGED, {"model": 0.1}, path)
    prices.keep()
    assert not path.exists()
    prices.keep(always=True)
    kept = path.read_text()
    prices.observe_verify(1, 1.01)
    prices.keep()
    assert path.read_text() == kept
    for _ in range(50):
        prices.observe_verify(1, 1.5)
    prices.keep()
    again = Prices.from_dict(json.loads(path.read_text()), path)
    assert again.to_dict() == prices.to_dict()
    assert list(path.parent.iterdir()) == [path]


def test_a_disk_that_refuses_stops_nobody(tmp_path):
    (tmp_path / "file").write_text("")
    Prices(JAGGED, path=tmp_path / "file" / "prices.json").keep(always=True)


@pytest.mark.parametrize("saved", [{"verify_s": {}, "draft_s": {}}, {"verify_s": {"1": -1}}, {}])
def test_what_is_no_price_list_is_refused(saved):
    with pytest.raises((ValueError, KeyError)):
        Prices.from_dict(saved, None)
