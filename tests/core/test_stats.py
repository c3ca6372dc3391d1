"""The counts add up, and the ratios are the ones their names say."""

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from foredraft.core.stats import Stats, wilson


def three_rounds() -> Stats:
    """A draft of four of which two were kept, one kept whole, and a pass without a draft."""
    stats = Stats(prompt_tokens=7)
    stats.record(drafted=4, accepted=2, rejected=1, emitted=3)
    stats.record(drafted=3, accepted=3, rejected=0, emitted=4)
    stats.record(drafted=0, accepted=0, rejected=0, emitted=1)
    return stats


def test_counts_add_up() -> None:
    stats = three_rounds()
    assert (stats.drafted, stats.accepted, stats.rejected, stats.ignored) == (7, 5, 1, 1)
    assert stats.drafted == stats.accepted + stats.rejected + stats.ignored
    assert stats.generated_tokens == stats.accepted + stats.target_passes == 8


def test_identities_hold_for_any_rounds() -> None:
    rng = np.random.default_rng(0)
    stats = Stats()
    for _ in range(500):
        drafted = int(rng.integers(0, 6))
        accepted = int(rng.integers(0, drafted + 1))
        stats.record(drafted, accepted, int(accepted < drafted), accepted + 1)
    assert stats.drafted == stats.accepted + stats.rejected + stats.ignored
    assert sum(stats.lengths.values()) == stats.target_passes == 500
    assert sum(length * passes for length, passes in stats.lengths.items()) == stats.accepted
    assert sum(stats.kept) == stats.accepted
    assert sum(stats.judged) == stats.accepted + stats.rejected
    assert stats.judged == sorted(stats.judged, reverse=True)
    assert all(a <= b for a, b in zip(stats.judged[1:], stats.kept, strict=False))


def test_ratios() -> None:
    stats = three_rounds()
    assert stats.acceptance_rate == pytest.approx(5 / 6)
    assert stats.draft_share == pytest.approx(5 / 8)
    assert stats.tokens_per_target_pass == pytest.approx(8 / 3)


def test_passes_without_a_draft_are_counted() -> None:
    assert three_rounds().lengths == {2: 1, 3: 1, 0: 1}


def test_per_position_acceptance_is_conditional() -> None:
    """Position 2 was reached twice and kept once; position 3, drafted once, was never judged."""
    stats = three_rounds()
    assert stats.judged == [2, 2, 2]
    assert stats.per_position == [1, 1, 0.5]


def test_nothing_judged_is_not_a_rate_of_zero() -> None:
    stats = Stats()
    stats.record(drafted=0, accepted=0, rejected=0, emitted=1)
    assert stats.acceptance_rate is None
    assert stats.acceptance_interval is None
    assert stats.per_position == []
    assert Stats().tokens_per_target_pass == Stats().draft_share == Stats().tokens_per_s == 0


def test_time_adds_up_and_the_prefill_stands_apart() -> None:
    stats = Stats(total_s=10, prefill_s=2, draft_s=1, verify_s=5, accept_s=0.5)
    stats.record(drafted=0, accepted=0, rejected=0, emitted=16)
    assert stats.decode_s == 8
    assert stats.other_s == pytest.approx(1.5)
    assert stats.tokens_per_s == 2


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 50), (37, 50), (999, 1000)])
def test_wilson_is_scipys(successes: int, trials: int) -> None:
    theirs = binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    assert wilson(successes, trials) == pytest.approx((theirs.low, theirs.high), abs=1e-6)


def test_to_dict_is_json_and_holds_every_count() -> None:
    values = three_rounds().to_dict()
    assert json.loads(json.dumps(values))["per_position"] == [1, 1, 0.5]
    assert list(values)[:4] == ["prompt_tokens", "generated_tokens", "target_passes", "drafted"]
    assert values["ignored"] == 1
