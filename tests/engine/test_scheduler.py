"""Many requests at once: each gets the text it would have got alone, and its fair share."""

import random
import threading
import time
from dataclasses import replace
from functools import cache

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.types import Exactness
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.store import SuffixStore
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.job import Speculation
from foredraft.engine.prices import Prices
from foredraft.engine.request import Request
from foredraft.engine.scheduler import Busy, Closing, Scheduler
from tests import tiny

WAIT_S = 60


class Heard:
    """A listener that keeps what it hears."""

    def __init__(self, on_step=None):
        self.steps, self.ended, self._on_step = [], threading.Event(), on_step

    def __call__(self, step):
        self.steps.append(step)
        if self._on_step:
            self._on_step(step)
        if step.finish_reason is not None:
            self.ended.set()

    @property
    def tokens(self):
        assert self.ended.wait(WAIT_S), "it never ended"
        return [token.id for step in self.steps for token in step.tokens]

    @property
    def reason(self):
        assert self.ended.wait(WAIT_S), "it never ended"
        assert [step.finish_reason for step in self.steps[:-1]] == [None] * (len(self.steps) - 1)
        return self.steps[-1].finish_reason


def prompts(count, seed=0):
    """Texts that repeat themselves, so that a lookup has something to draft."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        piece = [chance.randrange(26) for _ in range(chance.randint(2, 9))]
        made.append((piece * 20)[: chance.randint(3, 90)])
    return made


@pytest.fixture(scope="module")
def target():
    return tiny.target()


@pytest.fixture
def start(target):
    """Start a scheduler on a target of one's own or the tiny one."""
    running = []

    def begin(on=None, slots=8, queue=64, drafters=None, prices=None):
        drafters = [SuffixDrafter(SuffixStore(), branching=True)] if drafters is None else drafters
        scheduler = Scheduler(Generator(on or target, *drafters), slots=slots, queue=queue)
        running.append(scheduler)
        return scheduler

    yield begin
    for scheduler in running:
        scheduler.close()


@cache
def twin(seed):
    """The same model again: a target serves one thread."""
    return tiny.target(seed=seed)


def alone(prompt, request, seed=0):
    return [t.id for t in Generator(twin(seed)).generate(prompt, request).tokens]


MODES = ("auto", "off", "ngram", "suffix")
LAWS = (SamplingParams(), SamplingParams(temperature=1.0), SamplingParams(0.8, top_k=5))


@pytest.mark.parametrize("exactness", [Exactness.COUPLED, Exactness.BITWISE])
@pytest.mark.parametrize("with_model", [False, True])
def test_each_gets_the_text_it_would_have_got_alone(start, exactness, with_model):
    drafters = [SuffixDrafter(SuffixStore(), branching=True)]
    if with_model:
        drafters.append(ModelDrafter(tiny.target(seed=0), tiny.VOCAB))
    scheduler = start(drafters=drafters)
    wanted, heard = [], []
    for i, prompt in enumerate(prompts(24)):
        mode = (*MODES, "model")[i % (4 + with_model)]
        draft_len = 3 if mode not in ("auto", "off") and i % 2 else None
        request = Request(
            LAWS[i % 3], 5 + i, seed=i, exactness=exactness, ignore_eos=True, draft_len=draft_len
        )
        wanted.append((prompt, request))
        heard.append(Heard())
        scheduler.submit(prompt, request, heard[-1], speculation=Speculation(mode))
        time.sleep(0.002 * (i % 4))
    for (prompt, request), one in zip(wanted, heard, strict=True):
        assert one.tokens == alone(prompt, replace(request, draft_len=None))
        assert one.reason == "length"


def test_texts_share_passes_and_say_so(start):
    scheduler = start()
    gate = threading.Event()
    first = Heard(lambda step: gate.wait(WAIT_S))  # holds the scheduler until all have come
    scheduler.submit(prompts(1)[0], Request(max_new_tokens=40, ignore_eos=True), first)
    others = [Heard() for _ in range(4)]
    for prompt, one in zip(prompts(4, 1), others, strict=True):
        scheduler.submit(prompt, Request(max_new_tokens=30, ignore_eos=True), one)
    gate.set()
    assert all(one.reason == "length" for one in (first, *others))
    assert max(step.share.sequences for step in others[0].steps if step.share) == 5
    assert all(step.share.rows >= step.share.sequences for step in first.steps if step.share)


def test_statistics_are_those_of_its_own_rounds(start):
    scheduler = start()
    jobs = [
        scheduler.submit(prompt, Request(max_new_tokens=32, ignore_eos=True), heard)
        for prompt, heard in zip(prompts(6), [Heard() for _ in range(6)], strict=True)
    ]
    for job in jobs:
        assert job.listener.reason == "length"
        stats = job.result.stats
        assert stats.generated_tokens == 32 == len(job.result.tokens)
        assert stats.drafted == stats.accepted + stats.rejected + stats.ignored
        assert stats.generated_tokens == stats.accepted + stats.target_passes - (
            job.result.tokens[-1].from_draft
        )
        assert stats.total_s >= stats.draft_s + stats.verify_s + stats.accept_s > 0
        assert job.result.speedup > 0
        assert 0 <= job.queue_s <= job.first_token_s


def test_a_price_from_a_busy_hour_makes_no_speedup(target):
    """Where nothing was drafted, nothing was gained, whatever the prices say."""

    class Dear(Generator):
        def calibrate(self, bitwise=False, progress=None):
            return Prices({1: 50.0, 8: 60.0}, together={8: 1.0})

    scheduler = Scheduler(Dear(target), slots=8)
    heard = Heard()
    job = scheduler.submit([1, 2, 3], Request(max_new_tokens=20, ignore_eos=True), heard)
    assert heard.reason == "length"
    scheduler.close()
    assert 0.5 < job.result.speedup <= 1.01
    assert scheduler.plain_s(1) < 1


def test_a_cancelled_request_leaves_within_a_round(start):
    scheduler = start(slots=1)
    seen = threading.Event()
    heard, next_one = Heard(lambda step: seen.set()), Heard()
    job = scheduler.submit(prompts(1)[0], Request(max_new_tokens=400, ignore_eos=True), heard)
    scheduler.submit(prompts(1, 5)[0], Request(max_new_tokens=3, ignore_eos=True), next_one)
    assert seen.wait(WAIT_S)
    told = len(heard.steps)
    job.cancel()
    assert heard.reason == "cancelled"
    assert job.result.finish_reason == "cancelled"
    assert len(heard.steps) <= told + 3
    assert next_one.reason == "length"
    assert scheduler.load.waiting == 0


def test_one_that_waits_is_cancelled_or_runs_out_of_time(start):
    scheduler = start(slots=1)
    gate = threading.Event()
    held = Heard(lambda step: gate.wait(WAIT_S))
    scheduler.submit(prompts(1)[0], Request(max_new_tokens=5, ignore_eos=True), held)
    late, gone = Heard(), Heard()
    scheduler.submit([1, 2, 3], Request(max_new_tokens=5), late, timeout_s=0.01)
    scheduler.submit([1, 2, 3], Request(max_new_tokens=5), gone).cancel()
    time.sleep(0.05)
    gate.set()
    assert (late.reason, gone.reason) == ("timeout", "cancelled")
    assert late.tokens == gone.tokens == []


def test_a_full_queue_says_when_to_come_back(start):
    scheduler = start(slots=1, queue=1)
    gate, begun = threading.Event(), threading.Event()
    held = Heard(lambda step: (begun.set(), gate.wait(WAIT_S)))
    scheduler.submit([1, 2], Request(max_new_tokens=5, ignore_eos=True), held)
    assert begun.wait(WAIT_S)
    waits = Heard()
    scheduler.submit([1, 2], Request(max_new_tokens=5, ignore_eos=True), waits)
    with pytest.raises(Busy, match="1 requests are waiting") as refused:
        scheduler.submit([1, 2], Request(max_new_tokens=5), Heard())
    assert refused.value.retry_s >= 1
    gate.set()
    assert waits.reason == "length"


def test_places_are_shared_out_among_owners(start):
    """Many requests of one owner do not hold up the only one of another."""
    scheduler = start(slots=2)
    gate, order = threading.Event(), []
    held = Heard(lambda step: gate.wait(WAIT_S))
    scheduler.submit([1, 2], Request(max_new_tokens=2, ignore_eos=True), held, owner="many")
    heard = []
    for name in ["many"] * 6 + ["one"]:
        one = Heard(lambda step, name=name: order.append(name))
        heard.append(one)
        request = Request(max_new_tokens=12, ignore_eos=True)
        scheduler.submit([1, 2, 3], request, one, owner=name)
    gate.set()
    assert {one.reason for one in heard} == {"length"}
    assert "one" in order[: order.index("many") + 4]


def test_bad_requests_are_refused_at_once(start):
    scheduler = start()
    for ids, request, speculation, says in (
        ([], Request(), Speculation(), "prompt is empty"),
        ([99], Request(), Speculation(), "outside the model's vocabulary"),
        ([1] * 600, Request(), Speculation(), "context of 512"),
        ([1], Request(), Speculation("magic"), "choose one of auto, off, suffix, ngram"),
        ([1], Request(draft_len=2), Speculation("suffix", (1, 2)), "fixes one drafter's draft"),
    ):
        with pytest.raises(ForedraftError, match=says):
            scheduler.submit(ids, request, Heard(), speculation=speculation)


def test_a_law_that_cannot_be_made_fails_its_own_request_only(start):
    def impossible(text, scores):
        return scores - float("inf") if len(text) > 8 else scores

    scheduler = start()
    bad, good = Heard(), Heard()
    params = SamplingParams(processors=[impossible])
    scheduler.submit([1, 2, 3], Request(params, 30, ignore_eos=True), bad)
    request = Request(max_new_tokens=30, ignore_eos=True)
    scheduler.submit([3, 2, 1], request, good)
    assert bad.reason == "error"
    assert "No token has a finite score" in bad.steps[-1].error
    assert good.tokens == alone([3, 2, 1], request)


def test_an_engine_that_fails_once_goes_on_with_the_next(start, monkeypatch, caplog):
    own = tiny.target(seed=3)
    scheduler = start(own)
    score, calls = own.score, []

    def fails_once(batch):
        calls.append(batch)
        if len(calls) == 3:
            raise RuntimeError("a kernel went wrong")
        return score(batch)

    monkeypatch.setattr(own, "score", fails_once)
    first, second = Heard(), Heard()
    scheduler.submit([1, 2, 3], Request(max_new_tokens=20, ignore_eos=True), first)
    assert (first.reason, first.steps[-1].error) == (
        "error",
        "The engine failed; its log says how.",
    )
    assert "a kernel went wrong" in caplog.text
    request = Request(max_new_tokens=20, ignore_eos=True)
    scheduler.submit([1, 2, 3], request, second)
    assert second.tokens == alone([1, 2, 3], request, seed=3)


def test_a_shared_beginning_is_read_once(start):
    scheduler = start()
    prompt = prompts(40)[7] * 3
    prompt = (prompt + list(range(20)))[:80] if len(prompt) < 80 else prompt[:80]
    request = Request(max_new_tokens=6, ignore_eos=True)
    heard = []
    for more in ([1, 2, 3], [4, 5, 6], [7, 8]):
        heard.append(Heard())
        job = scheduler.submit(prompt + more, request, heard[-1])
        assert heard[-1].tokens == alone(prompt + more, request)
        cached = job.cached_tokens
    assert cached == len(prompt)


def test_a_full_cache_drives_out_who_came_last_and_all_get_their_texts(start):
    """Cells for about two of the six: the others wait, or begin and go on later."""
    own = tiny.target(seed=4)
    own.capabilities = replace(own.capabilities, cells=200)
    scheduler = start(own)
    wanted, heard = [], []
    for i, prompt in enumerate(prompts(6, 9)):
        wanted.append((prompt, Request(max_new_tokens=60, ignore_eos=True, seed=i)))
        heard.append(Heard())
        scheduler.submit(*wanted[-1], heard[-1])
    most = 0
    while not all(one.ended.is_set() for one in heard):
        most = max(most, scheduler.load.cached_tokens)
        time.sleep(0.001)
    assert most <= 200
    for (prompt, request), one in zip(wanted, heard, strict=True):
        assert one.tokens == alone(prompt, request, seed=4)


def test_a_prediction_is_a_draft_and_changes_nothing(start):
    request = Request(max_new_tokens=40, ignore_eos=True)
    prompt = prompts(9)[8]
    answer = alone(prompt, request)
    scheduler = start(drafters=[])
    right, wrong = Heard(), Heard()
    said = (*answer[:15], 1, *answer[16:])
    job = scheduler.submit(prompt, request, right, speculation=Speculation(prediction=said))
    assert right.tokens == answer
    assert job.result.stats.sources["prediction"][2] > 20
    job = scheduler.submit(
        prompt, request, wrong, speculation=Speculation(prediction=tuple(range(26)))
    )
    assert wrong.tokens == answer


def test_a_scope_drafts_from_its_own_answers_only(start):
    scheduler = start()
    request = Request(SamplingParams(1.0), max_new_tokens=60, ignore_eos=True, seed=5, draft_len=4)
    prompt = [1, 2, 3, 4]
    counts = []
    for scope in ("ann", "ann", "bob"):
        heard = Heard()
        wish = Speculation("suffix", scope=scope)
        job = scheduler.submit(prompt, request, heard, speculation=wish)
        assert heard.reason == "length"
        counts.append(job.result.stats.accepted)
    assert counts[1] > counts[0] + 20, "the second time the answer is known"
    assert counts[2] == counts[0], "another's answers are not"


def test_closing_lets_what_runs_end_and_takes_nothing_new(start):
    scheduler = start()
    heard = [Heard() for _ in range(4)]
    for one in heard:
        scheduler.submit([1, 2, 3], Request(max_new_tokens=20, ignore_eos=True), one)
    scheduler.close(WAIT_S)
    assert {one.reason for one in heard} == {"length"}
    with pytest.raises(Closing, match="shutting down"):
        scheduler.submit([1, 2, 3], Request(), Heard())


def test_what_does_not_end_in_time_is_cancelled(start):
    scheduler = start()
    heard = Heard(lambda step: time.sleep(0.01))
    scheduler.submit([1, 2, 3], Request(max_new_tokens=450, ignore_eos=True), heard)
    scheduler.close(0.05)
    assert heard.reason == "cancelled"


def test_it_needs_a_slot(target):
    with pytest.raises(ForedraftError, match="0 slots"):
        Scheduler(Generator(target), slots=0)
