"""The soak finds what it looks for, and a short one passes."""

import json
import random
import sys
import threading
import time

import pytest

import report
import soak
from foredraft.drafters.store import SuffixStore
from soaking import acts, crowd
from soaking.acts import Client, Turned, Wrong
from soaking.cases import CHAT, Case
from soaking.stored import stored
from soaking.watch import Sample, totals, verdict
from tests.rivals.fake import chunk, json_page
from tests.rivals.fake import serving as fake

CASE = Case(CHAT, {"messages": [], "temperature": 0, "max_tokens": 4}, "abcd")


def client(url="", seed=0):
    return Client(url, "key", (CASE,), ("suffix",), "bitwise", 1000, random.Random(seed))


def samples(rss=lambda t: 100e6, files=lambda t: 10):
    return [Sample(t, rss(t), files(t), 5) for t in range(100)]


def test_growth_after_the_warm_up_is_a_leak():
    assert verdict(samples())["flat"]
    assert verdict(samples(rss=lambda t: 100e6 + min(t, 20) * 50e6))["flat"], "only warming up"
    leak = verdict(samples(rss=lambda t: 100e6 + t * 1e6))
    assert not leak["flat"]
    assert leak["rss_mb"] == [137.0, 187.0]
    assert leak["rss_mb_per_hour"] == 3600.0
    assert not verdict(samples(files=lambda t: t))["flat"]
    assert verdict(samples()[:3])["flat"] is None, "too short to tell"


def test_a_damaged_store_is_seen(tmp_path):
    path = tmp_path / "answers.npz"
    assert stored(path)["answers"] == 0
    store = SuffixStore(path=path)
    store.add([1, 2, 3])
    store.add([4, 5])
    assert stored(path) == {"whole": True, "answers": 2, "tokens": 5}
    path.write_bytes(path.read_bytes()[:-30])
    assert not stored(path)["whole"]


def test_totals_of_a_page():
    page = 'a_total{x="1"} 2\na_total{x="2"} 3\nb 1\n'
    assert totals(page) == {"a_total": 5, "b": 1}


@pytest.mark.parametrize("seed", range(6))
def test_a_wrong_text_is_a_problem(seed):
    logprobs = {"content": [{"logprob": -0.1}]}
    for text in ("abcd", "abce"):

        def answer(body, text=text):
            one = {"message": {"content": text}, "logprobs": logprobs}
            return json_page({"choices": [one] * body.get("n", 1)})

        with fake(whole=answer) as server:
            if text == CASE.text:
                acts.whole(client(server.url, seed))
            else:
                with pytest.raises(Wrong, match=r"wrong text for .*abce.* instead of .*abcd"):
                    acts.whole(client(server.url, seed))


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ([chunk("ab"), chunk("cd"), "[DONE]"], ""),
        ([chunk("ab"), chunk("ce"), "[DONE]"], "wrong text"),
        ([chunk("abcd")], "ended without"),
        ([chunk("ab"), {"error": {"message": "no"}}, "[DONE]"], "an error in the stream"),
    ],
)
def test_streams(stream, said):
    with fake(lambda body: stream) as server:
        if said:
            with pytest.raises(Wrong, match=said):
                acts.streamed(client(server.url))
        else:
            acts.streamed(client(server.url))


@pytest.mark.parametrize(("act", "status"), [(acts.stranger, 401), (acts.lost, 404)])
def test_refusals_must_be_refusals(act, status):
    answers = {
        "": json_page({"error": {"message": "no"}}, status),
        "200 where": json_page({}),
        "without an error message": json_page({}, status),
    }
    for said, answer in answers.items():
        with fake(whole=lambda body, answer=answer: answer) as server:
            if said:
                with pytest.raises(Wrong, match=said):
                    act(client(server.url))
            else:
                act(client(server.url))


def test_what_fails_while_the_server_is_down_is_lost_and_else_a_problem(monkeypatch):
    fallen, seen = threading.Event(), threading.Event()

    def act(client):
        if not fallen.is_set():
            seen.set()
            fallen.wait(5)
            raise OSError("reset")
        raise Wrong("nonsense")

    monkeypatch.setattr(crowd, "ACTS", {act: 1})
    monkeypatch.setattr(crowd, "MOST_PROBLEMS", 3)
    people = crowd.Crowd(lambda chance: None)
    people.start(1)
    seen.wait(5)
    people.fall()
    fallen.set()
    people.rise()
    while not people.unsaid:
        time.sleep(0.001)
    people.stop()
    assert people.lost == 1
    assert people.problems == ["act: Wrong: nonsense"] * 3


def test_being_turned_away_is_no_problem(monkeypatch):
    def act(client):
        raise Turned

    monkeypatch.setattr(crowd, "ACTS", {act: 1})
    people = crowd.Crowd(lambda chance: None)
    people.start(1)
    while not people.turned:
        time.sleep(0.001)
    people.stop()
    assert not people.problems
    assert not people.done


def test_a_short_soak(monkeypatch, tmp_path, capsys):
    pytest.importorskip("foredraft.cli.serve")
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    command = f"{sys.executable} -m tests.benchmarks.soaked"
    options = ["--minutes", "0.1", "--clients", "3", "--exactness", "coupled", "--model", "parrot"]
    status = soak.main([*options, "--foredraft", command])
    found = json.loads((tmp_path / "soak.json").read_text())
    assert status == 0, found["problems"] or found["checks"] or found["first_traceback"]
    assert found["crash"]["after"]["answers"] > 0
    assert found["acts"]["streamed"] > 0
    assert "ok  nothing stuck" in capsys.readouterr().out
