"""The page for Prometheus says what happened, each thing once."""

import threading
import time
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from foredraft.core.stats import Stats
from foredraft.core.types import Draft, Verdict
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.job import Job, Share, Speculation, Step
from foredraft.engine.loop import Round
from foredraft.engine.prices import Prices
from foredraft.engine.request import Request
from foredraft.engine.result import Result, Token
from foredraft.engine.scheduler import Load, Scheduler
from foredraft.rivals.prometheus import Totals, read_totals
from foredraft.server.metrics import Metrics
from foredraft.server.tallies import MOST_POSITIONS
from tests import tiny

ALONE = Share(1, 1)


IDLE = Load(0, 0, 0)


def metrics(load=IDLE):
    target = SimpleNamespace(name="tiny", engine="birds")
    drafters = (SimpleNamespace(name="suffix"), SimpleNamespace(name="model"))
    return Metrics(SimpleNamespace(target=target, drafters=drafters, load=load))


def values(found):
    """{"name{label}": value} of the page, without histograms' buckets and creation times."""
    page = found.text().decode()
    return {
        sample.name.removeprefix("foredraft_")
        + "".join(f"{{{value}}}" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if "le" not in sample.labels and not sample.name.endswith("_created")
    }


def job(prompt=5, **known):
    made = Job([1] * prompt, Request(), Speculation(), lambda step: None)
    for name, value in known.items():
        setattr(made, name, value)
    return made


def round_of(drafted, accepted, rejected=1, source="suffix", draft_s=0.0, verify_s=0.0):
    """A round with a chain as its draft; see `step`."""
    draft = Draft.chain(range(drafted), source=source)
    return Round(draft, Verdict(tuple(range(accepted)), 9, rejected), (), draft_s, verify_s, None)


def step(done, share=ALONE, emitted=None, finish=None):
    """The step of a round, which is read to its end unless `emitted` is less."""
    kept = len(done.verdict.path)
    tokens = tuple(Token(i, "x", i < kept) for i in range(kept + 1))
    return Step(tokens[:emitted], done, share, finish)


def test_a_draft_is_counted_at_each_of_its_positions():
    found = metrics()
    found.stepped(job(), step(round_of(4, 2)))
    found.stepped(job(), step(round_of(2, 2, rejected=0, source="model")))
    seen = values(found)
    assert [seen[f"drafted_at_position_total{{{i}}}"] for i in range(4)] == [2, 2, 1, 1]
    assert [seen[f"judged_at_position_total{{{i}}}"] for i in range(3)] == [2, 2, 1]
    assert [seen[f"accepted_at_position_total{{{i}}}"] for i in range(2)] == [2, 2]
    assert "judged_at_position_total{3}" not in seen
    for source, counts in (("suffix", (1, 4, 2, 1)), ("model", (1, 2, 2, 0))):
        names = ("drafts", "drafted_tokens", "accepted_tokens", "rejected_tokens")
        assert tuple(seen[f"{name}_total{{{source}}}"] for name in names) == counts


def test_passes_without_a_draft_count_and_a_shared_pass_counts_once():
    found = metrics()
    found.stepped(job(), step(round_of(0, 0, 0, source="none", verify_s=0.3)))
    together = Share(3, 7)
    for drafted in (2, 2, 0):
        done = round_of(drafted, 0, bool(drafted), draft_s=0.1, verify_s=0.6)
        found.stepped(job(), step(done, together))
    seen = values(found)
    assert seen["target_passes_total"] == pytest.approx(2)
    assert (seen["rounds_total"], seen["drafts_total{suffix}"]) == (4, 2)
    assert seen["verify_seconds_total"] == pytest.approx(0.9)
    assert seen["draft_seconds_total"] == pytest.approx(0.1)
    assert seen["generated_tokens_total"] == 4
    assert not any("none" in name for name in seen)


def test_a_text_that_ends_inside_an_accepted_run_was_not_refused():
    found = metrics()
    found.stepped(job(), step(round_of(4, 3), emitted=2, finish="stop"))
    seen = values(found)
    assert seen["accepted_tokens_total{suffix}"] == 2
    assert seen["rejected_tokens_total{suffix}"] == 0
    assert seen["requests_finished_total{stop}"] == 1


def test_a_tree_is_as_deep_as_its_longest_path_and_long_drafts_have_a_last_position():
    found = metrics()
    tree = Draft((1, 2, 3), (-1, -1, 1), None, "suffix")
    found.stepped(job(), step(Round(tree, Verdict((1, 2), 9, 0), (), 0, 0, None)))
    found.stepped(job(), step(round_of(100, 50)))
    seen = values(found)
    assert [seen[f"drafted_at_position_total{{{i}}}"] for i in range(3)] == [2, 2, 1]
    assert seen["drafted_tokens_total{suffix}"] == 103
    positions = [name for name in seen if name.startswith("drafted_at_position_total")]
    assert len(positions) == MOST_POSITIONS


def test_tokens_that_come_together_share_the_time_since_those_before(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("foredraft.server.metrics.time.monotonic", lambda: clock[0])
    found, asked = metrics(), job(prompt=7, submitted=98.0, queue_s=0.5, cached_tokens=3)
    found.began(asked)
    found.stepped(asked, step(round_of(2, 1)))
    asked.result.stats.prefill_s = 1.25
    clock[0] = 100.8
    found.stepped(asked, step(round_of(3, 3, 0), finish="length"))
    seen = values(found)
    assert (seen["time_to_first_token_seconds_sum"], seen["queue_seconds_sum"]) == (2.0, 0.5)
    assert seen["inter_token_latency_seconds_count"] == 4
    assert seen["inter_token_latency_seconds_sum"] == pytest.approx(0.8)
    assert seen["token_gap_seconds_count"] == 1
    assert seen["token_gap_seconds_sum"] == pytest.approx(0.8)
    assert seen["request_decode_seconds_sum"] == pytest.approx(0.8)
    assert seen["request_seconds_sum"] == pytest.approx(2.8)
    assert (seen["prompt_tokens_total"], seen["prompt_tokens_cached_total"]) == (7, 3)
    assert (seen["prefill_seconds_total"], seen["requests_total"]) == (1.25, 1)


def ended(plain_step_s, generated, total_s):
    done = job(result=Result(plain_step_s=plain_step_s))
    done.result.stats = Stats(generated_tokens=generated, total_s=total_s)
    return done


def test_the_speedup_is_of_seconds_and_forgets():
    found = metrics()
    assert values(found)["speedup"] != values(found)["speedup"]  # NaN: nothing to compare yet
    for one in (ended(0.1, 40, 2.0), ended(0.1, 10, 2.0), ended(None, 10, 5.0)):
        found.stepped(one, step(round_of(0, 0), finish="length"))
    seen = values(found)
    assert seen["speedup_plain_seconds_total"] == pytest.approx(5.0)
    assert seen["speedup_actual_seconds_total"] == pytest.approx(4.0)
    assert seen["speedup"] == pytest.approx(5 / 4, rel=0.02)
    found.stepped(ended(0.1, 1000, 200.0), step(round_of(0, 0), finish="length"))
    assert values(found)["speedup"] == pytest.approx(0.5, rel=0.01)


def test_every_end_and_refusal_and_what_is_under_way():
    found = metrics(Load(2, 3, 400))
    found.refused("busy")
    found.stepped(job(), Step(finish_reason="cancelled"))
    seen = values(found)
    assert seen["requests_refused_total{busy}"] == seen["requests_finished_total{cancelled}"] == 1
    assert seen["request_seconds_count"] == 0  # it got no token
    names = ("requests_running", "requests_waiting", "cached_tokens")
    assert [seen[name] for name in names] == [2, 3, 400]


def test_series_begin_at_nothing_and_two_servers_share_none():
    one, other = metrics(), metrics()
    one.refused("busy")
    seen = values(other)
    assert seen["drafts_total{model}"] == seen["generated_tokens_total"] == 0
    assert "requests_refused_total{busy}" not in seen
    assert seen["server_info{birds}{tiny}{0.1.0}"] == 1
    assert seen["process_resident_memory_bytes"] > 0


def test_a_step_takes_microseconds_and_nothing_of_it_stays():
    found, asked = metrics(), job()
    told = step(round_of(8, 5))
    begun = time.perf_counter()
    for _ in range(2000):
        found.stepped(asked, told)
    took = (time.perf_counter() - begun) / 2000
    found.stepped(asked, Step(finish_reason="length"))
    assert took < 200e-6  # some 20 here; a loaded machine is given room
    assert not found._heard


def test_watch_and_bench_read_this_page():
    found = metrics(Load(1, 0, 0))
    found.stepped(job(), step(round_of(4, 2)))
    found.stepped(job(), step(round_of(3, 3, 0, source="model")))
    found.stepped(ended(0.1, 8, 0.5), step(round_of(0, 0), finish="length"))
    totals = read_totals(found.text().decode())
    assert totals == Totals("foredraft", 8, 1, 0.0, 2, 7, 5, (2, 2, 1), 1)


def test_a_real_scheduler_is_counted_as_its_results_count():
    prices = Prices({1: 0.01, 32: 0.02}, together={1: 1.0, 4: 1.1})
    generator = Generator(tiny.target(), NgramDrafter())
    generator.calibrate = lambda *_: prices  # what is drafted must not hang on how fast this runs
    scheduler = Scheduler(generator, slots=4)
    found, ends = Metrics(scheduler), [threading.Event() for _ in range(6)]
    jobs, told = [], []

    def listener(number):
        def hear(step):
            told.append((number, step))
            if step.finish_reason is not None:
                ends[number].set()

        return hear

    for number in range(6):
        ids = [number, 3, 1, 4, 1, 5, 3, 1, 4, 1, 5, 3, 1]
        jobs.append(scheduler.submit(ids, Request(max_new_tokens=24, seed=1), listener(number)))
    assert all(end.wait(60) for end in ends)
    scheduler.close()
    for number, one in told:
        found.stepped(jobs[number], one)
    seen, stats = values(found), [job.result.stats for job in jobs]
    assert seen["generated_tokens_total"] == sum(s.generated_tokens for s in stats) > 6
    assert seen["rounds_total"] == sum(s.target_passes for s in stats)
    assert seen["drafted_tokens_total{ngram}"] == sum(s.drafted for s in stats) > 0
    assert seen["accepted_tokens_total{ngram}"] == sum(s.accepted for s in stats)
    assert seen["rejected_tokens_total{ngram}"] == sum(s.rejected for s in stats)
    assert [seen.get(f"judged_at_position_total{{{i}}}", 0) for i in range(3)] == [
        sum(s.judged[i] if i < len(s.judged) else 0 for s in stats) for i in range(3)
    ]
    assert seen["target_passes_total"] == pytest.approx(round(seen["target_passes_total"]))
    assert 0 < seen["target_passes_total"] < seen["rounds_total"]
    assert seen["speedup_actual_seconds_total"] == pytest.approx(sum(s.decode_s for s in stats))
    assert sum(v for name, v in seen.items() if name.startswith("requests_finished")) == 6
