"""Many clients at once: what is counted, in which order, and what a broken run leaves."""

import json
import threading
import time
from contextlib import contextmanager

import pytest

import report
import serving
from crowd import cell, levels
from engines.base import EngineError
from foredraft.rivals.answer import Answer
from foredraft.rivals.counters import Counts
from prompts import choose
from tests.rivals.fake import saying
from tests.rivals.fake import serving as fake


def answer(tokens=5, first_s=1.0, decode_s=2.0, text="abc", counts=None):
    return Answer(text, tokens, first_s, decode_s, (0.5, 0.5, 1.0), "length", counts)


def test_throughput_has_the_prompts_in_it_and_a_tokens_time_has_not():
    counts = Counts("x", 6, 4, 1, 1)
    found = cell(["a", "b"], [(answer(counts=counts), 3.0), (answer(), 3.5)], wall_s=4.0)
    assert found["tokens_per_s"] == 2.5
    assert found["token_s"] == {"median": 0.5, "p95": 0.5}
    assert found["first_s"]["median"] == 1.0
    assert found["gap_s"]["p95"] == 1.0
    assert found["acceptance_rate"] == 0.8
    assert found["tokens_per_pass"] == round(10 / 6, 4)
    assert [a["whole_s"] for a in found["answers"]] == [3.0, 3.5]


def test_a_server_that_counts_nothing_has_no_speed():
    with pytest.raises(EngineError, match="does not count its tokens"):
        cell(["a"], [(answer(tokens=None), 1.0)], 1.0)


def test_arms_are_compared_within_a_repeat_and_answers_by_prompt():
    def one(speed, whole_s, text="abc"):
        return cell(["a", "b"], [(answer(text=text), whole_s)] * 2, wall_s=10 / speed)

    cells = {4: {"auto": [one(4, 2), one(6, 2)], "off": [one(2, 3), one(2, 3, "abd")], "x": []}}
    found = levels(cells, "auto")["4"]
    assert found["arms"]["auto"]["tokens_per_s"] == 5
    assert (found["arms"]["auto"]["low"], found["arms"]["auto"]["n"]) == (4, 2)
    over = found["over"]["off"]
    assert over["throughput"] == pytest.approx(6**0.5, rel=1e-3)
    assert (over["low"], over["high"]) == (2, 3)
    assert over["answer_time"]["value"] == 1.5
    assert over["same_text"] == [2, 4]
    assert "x" not in found["arms"]


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """Two arms whose servers answer at once, and how many questions they had at the same time."""
    asked = []
    now, most = [0], {}

    def arm(label, extra):
        @contextmanager
        def started():
            lock = threading.Lock()

            def stream(body):
                with lock:
                    now[0] += 1
                    most[label] = max(most.get(label, 0), now[0])
                time.sleep(0.02)
                with lock:
                    now[0] -= 1
                asked.append((label, body))
                return saying("a", "b", "c", tokens=body["max_tokens"], finish="length")

            with fake(stream) as server:
                yield server

        return serving.Arm(label, started, extra)

    known = [arm(serving.AUTO, {"speculation": {"mode": "auto"}}), arm("other", {"top": None})]
    monkeypatch.setattr(serving, "arms", lambda options: known)
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(serving, "RESULTS", tmp_path)
    return asked, most


RUN = ["--levels", "1,3", "--tokens", "3", "--requests", "2", "--repeats", "2"]


def test_a_run_and_its_resumption(stand_in, tmp_path, capsys):
    asked, most = stand_in
    serving.main(RUN)
    assert most == {serving.AUTO: 3, "other": 3}
    # Two repeats, of 2 + 3 questions and two to wake the servers, of each of two arms.
    assert len(asked) == 2 * 2 * (2 + 3 + 2)
    assert all(body["ignore_eos"] for _, body in asked)
    assert {body["max_tokens"] for _, body in asked} == {3, 4}
    order = [label for label, body in asked if body["messages"] == serving.WARM.messages]
    assert order[:4] == [serving.AUTO, "other", "other", serving.AUTO]
    found = json.loads((tmp_path / "serving.json").read_text())
    assert len(found["cells"]) == 8
    assert found["levels"]["3"]["over"]["other"]["n"] == 2
    assert {"machine", "commit", "date", "new_tokens"} <= found.keys()
    assert "at once" in capsys.readouterr().out

    del found["cells"][serving.key("other", 3, 1)]
    (tmp_path / "serving.json").write_text(json.dumps(found))
    asked.clear()
    serving.main([*RUN, "--resume"])
    assert {label for label, _ in asked} == {"other"}
    assert len(asked) == 3 + 1
    with pytest.raises(EngineError, match="measured with other settings"):
        serving.main([*RUN[:2], "--tokens", "4", "--resume"])


def test_the_arms_start_what_they_say(tmp_path):
    model = tmp_path / "m.gguf"
    model.write_bytes(b"GGUF")
    options = ["--target", str(model), "--threads", "2", "--serve", "--drafter suffix"]
    auto, off, *rivals = serving.arms(serving.options_of(options))
    assert (auto.label, off.extra) == (serving.AUTO, {"speculation": {"mode": "off"}})
    command = auto.server().command
    assert command[command.index("serve") + 1] == str(model)
    assert command[-2:] == ["--context", "8192"]
    assert [arm.label for arm in rivals] == ["llama-server plain", "llama-server ngram-simple"]
    assert "--spec-type" in rivals[1].server().command
    wrong = serving.options_of(["--target", str(model), "--rivals", "nothing"])
    with pytest.raises(EngineError, match="There is no rival 'nothing'"):
        list(serving.arms(wrong))


def test_the_mix_is_of_every_kind_and_the_eight_are_in_it():
    mix = choose(serving.MIX)
    assert {p["id"] for p in choose()} <= {p["id"] for p in mix}
    assert len(mix) == 16
    assert len({p["kind"] for p in mix}) >= 7
