"""The two meters of our own say what the library's would have said of each token."""

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from foredraft.server.tallies import ByPosition, Weighted

BUCKETS = (0.01, 0.1, 1.0)


def samples(registry):
    page = generate_latest(registry).decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def test_an_observation_may_count_several_times():
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    weighted = Weighted("a_seconds", "A.", ours, BUCKETS)
    plain = Histogram("a_seconds", "A.", registry=theirs, buckets=BUCKETS)
    for value, times in ((0.01, 3), (0.05, 1), (7.0, 2), (0.5, 0)):
        weighted.observe(value, times)
        for _ in range(times):
            plain.observe(value)
    assert samples(ours) == samples(theirs)


def test_a_draft_counts_at_all_of_its_positions():
    registry = CollectorRegistry()
    positions = ByPosition("drafted_at", "A.", registry)
    for length in (0, 1, 3):
        positions.count(length)
    assert samples(registry) == {
        ("drafted_at_total", "0"): 2,
        ("drafted_at_total", "1"): 1,
        ("drafted_at_total", "2"): 1,
    }
