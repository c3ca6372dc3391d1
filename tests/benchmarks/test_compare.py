"""Medians, ratios and bests are what their names say."""

from dataclasses import replace

import pytest

import compare
from engines.base import Method, Run


def method(engine: str, name: str, family: str, default: bool = False, form: str = "") -> Method:
    return Method(engine, form, name, family, lambda ask: pytest.fail("not run"), default)


def runs(*speeds: float, ids: list[int] | None = None) -> list[Run]:
    """Runs of ten tokens at these speeds."""
    return [Run(ids or [1, 2], 10, 10 / speed, 0.5) for speed in speeds]


METHODS = [
    method("foredraft", "plain", "plain", True),
    method("foredraft", "ngram 5", "lookup", True),
    method("rival", "plain", "plain", True),
    method("rival", "lookup 3", "lookup"),
    method("rival", "lookup 5", "lookup", True),
]
FOUND = {
    "a": {
        "foredraft plain": runs(10, 10),
        "foredraft ngram 5": runs(20, 20),
        "rival plain": runs(8, 4),
        "rival lookup 3": runs(16, 16),
        "rival lookup 5": runs(8, 8, ids=[1, 3]),
    }
}


def test_a_ratio_is_the_median_of_the_ratios_of_the_same_repeat():
    row = compare.rows(FOUND, METHODS)["a"]["rival lookup 3"]
    assert row["over_plain"] == 3.0  # of 16/8 and 16/4
    assert (row["tokens_per_s"], row["low"], row["high"], row["n"]) == (16, 16, 16, 2)


def test_another_text_than_plain_decoding_is_reported():
    rows = compare.rows(FOUND, METHODS)["a"]
    assert rows["rival lookup 3"]["same_text_as_plain"] == [True, True]
    assert rows["rival lookup 5"]["same_text_as_plain"] == [False, False]


def test_the_reference_is_our_best_until_auto_is_run():
    table = compare.rows(FOUND, METHODS)
    assert compare.reference(table["a"], METHODS) == "foredraft ngram 5"
    auto = method("foredraft", "auto", "auto")
    found = {"a": FOUND["a"] | {"foredraft auto": runs(15, 15)}}
    table = compare.rows(found, [*METHODS, auto])
    assert compare.reference(table["a"], [*METHODS, auto]) == "foredraft auto"


def test_default_and_best_of_a_family_and_their_ratio_to_ours():
    table = compare.rows(FOUND, METHODS)
    assert compare.over_foredraft(table, METHODS) == {"a": "foredraft ngram 5"}
    found = compare.families(table, METHODS)
    lookup = found["rival lookup"]["prompts"]["a"]
    assert lookup["default"]["method"] == "rival lookup 5"
    assert lookup["best"] == {
        "method": "rival lookup 3",
        "tokens_per_s": 16,
        "over_plain": 3.0,
        "over_foredraft": 0.8,
    }
    whole = found["rival, any"]["prompts"]["a"]
    assert whole["best"]["method"] == "rival lookup 3"
    assert "default" not in whole


def test_an_answer_of_one_token_has_no_speed_and_spoils_no_mean():
    silent = [Run([1], 0, 0.0, 0.5)]
    methods = METHODS[:2]
    found = {
        "a": {"foredraft plain": runs(10), "foredraft ngram 5": runs(20)},
        "b": {"foredraft plain": silent, "foredraft ngram 5": silent},
    }
    table = compare.rows(found, methods)
    compare.over_foredraft(table, methods)
    assert table["b"]["foredraft plain"]["tokens_per_s"] is None
    assert compare.means(table, ["foredraft ngram 5"], "over_plain") == {"foredraft ngram 5": 2.0}
    assert compare.families(table, methods)["foredraft lookup"]["prompts"].keys() == {"a"}


def test_a_method_may_be_measured_by_another_ones_plain():
    borrowed = replace(method("flash", "composite", "combined"), baseline="rival plain")
    found = {"a": {"rival plain": runs(10), "flash composite": runs(15)}}
    rows = compare.rows(found, [METHODS[2], borrowed])
    assert rows["a"]["flash composite"]["over_plain"] == 1.5
