"""Whose turn it is."""

from collections import Counter

import pytest

from foredraft.engine.job import Job, Speculation
from foredraft.engine.line import Busy, Line
from foredraft.engine.request import Request


def job(owner=""):
    return Job([1], Request(), Speculation(), lambda step: None, owner)


def anyone(job):
    return True


def test_who_may_not_yet_lets_others_pass():
    line, first, second = Line(3), job(), job()
    line.join(first, 1.0)
    line.join(second, 1.0)
    assert line.next(Counter(), lambda one: one is not first) is second
    assert line.next(Counter(), lambda one: False) is None


def test_first_come_first_served_within_an_owner():
    line, jobs = Line(3), [job() for _ in range(3)]
    for one in jobs:
        line.join(one, 1.0)
    assert line.next(Counter(), anyone) is jobs[0]
    line.leave(jobs[0])
    assert line.next(Counter(), anyone) is jobs[1]
    line.rejoin(jobs[0])
    assert line.next(Counter(), anyone) is jobs[0], "it had begun"
    assert list(line) == jobs


def test_who_has_fewest_running_goes_first():
    line, of_ann, of_bob = Line(9), job("ann"), job("bob")
    line.join(of_ann, 1.0)
    line.join(of_bob, 1.0)
    assert line.next(Counter({"ann": 2, "bob": 1}), anyone) is of_bob
    assert line.next(Counter({"ann": 1, "bob": 1}), anyone) is of_ann


def test_a_full_line_is_busy():
    line = Line(1)
    line.join(job(), 1.0)
    with pytest.raises(Busy, match="try again in 7 s") as refused:
        line.join(job(), 7.0)
    assert refused.value.retry_s == 7.0
    assert len(line) == 1


def test_those_who_are_gone_are_dropped():
    line, stays, goes = Line(9), job(), job()
    line.join(stays, 1.0)
    line.join(goes, 1.0)
    goes.cancel()
    assert line.drop(lambda one: one.ends(0.0) is not None) == [goes]
    assert list(line) == [stays]
