"""The last minute, by a clock of the test's own."""

from foredraft.engine.job import Job, Speculation, Step
from foredraft.engine.request import Request
from foredraft.engine.result import Token
from foredraft.server.recent import Recent


def test_a_minute_is_forgotten():
    now = [100.0]
    recent = Recent(clock=lambda: now[0])
    job = Job([1], Request(), Speculation(), lambda step: None)
    recent.began(job)
    recent.stepped(job, Step((Token(1, "a", False), Token(2, "b", False))))
    now[0] += 4
    recent.stepped(job, Step((Token(3, "c", False),)))
    summary = recent.summary()
    assert (summary["requests"], summary["generated_tokens"]) == (1, 3)
    assert summary["tokens_per_s"] == 3 / 4
    now[0] += 58
    assert recent.summary()["generated_tokens"] == 1
    now[0] += 58
    assert recent.summary()["generated_tokens"] == 0


def test_the_speed_up_is_that_of_what_ended():
    recent = Recent(clock=lambda: 0.0)
    job = Job([1], Request(), Speculation(), lambda step: None)
    assert recent.summary()["speedup"] is None
    job.result.stats.total_s, job.result.plain_step_s = 2.0, 0.5
    job.result.stats.generated_tokens = 12
    recent.stepped(job, Step(finish_reason="eos"))
    assert recent.summary()["speedup"] == 3.0
