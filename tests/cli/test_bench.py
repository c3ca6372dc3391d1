"""`foredraft bench`: what a person and a program get, whole and in part."""

import json
import subprocess
import sys

import pytest

from tests.cli.terminal import Terminal
from tests.rivals.fake import DIE, chunk, json_page, saying, serving
from tests.rivals.pages import LLAMA_TIMINGS, VLLM_METRICS

KEYS = {
    "version", "complete", "error", "model", "temperature", "tokens", "repeats", "body", "off_body",
    "speedup", "sides", "prompts", "parity", "notes", "runs",
}  # fmt: skip
SIDE = {
    "url", "n", "tokens_per_s", "low", "high", "first_s", "gap_s", "gap_p95_s", "generated",
    "counters",
}  # fmt: skip
COUNTERS = {
    "source", "drafted", "accepted", "rejected", "ignored", "drafts", "per_position",
    "acceptance_rate", "accepted_of_drafted", "tokens_per_target_pass",
}  # fmt: skip
RUN = {
    "prompt", "repeat", "side", "text", "tokens", "first_s", "decode_s", "gaps", "finish_reason",
    "counts", "tokens_per_s",
}  # fmt: skip


@pytest.fixture
def prompts(tmp_path):
    file = tmp_path / "prompts.txt"
    file.write_text("Hello.\nGoodbye.\n")
    return ("--prompts", str(file))


def test_json_has_a_stable_schema(call, prompts):
    with serving(lambda body: saying("a", "b", timings=LLAMA_TIMINGS)) as on, serving() as off:
        done = call("bench", on.url, "--baseline", off.url, *prompts, "--repeats", "2", "--json")
    value = json.loads(done.out)
    assert done.status == 0
    assert set(value) == KEYS
    assert (value["complete"], value["model"], value["tokens"]) == (True, "tiny", 128)
    assert set(value["speedup"]) == {"value", "low", "high", "n"}
    assert set(value["sides"]) == {"on", "off"}
    assert all(set(side) == SIDE for side in value["sides"].values())
    (counters,) = value["sides"]["on"]["counters"]
    assert set(counters) == COUNTERS
    assert (counters["drafted"], counters["rejected"]) == (4 * 26, None)
    assert value["sides"]["off"]["counters"] == []
    assert [row["prompt"] for row in value["prompts"]] == ["1", "2"]
    assert {one["verdict"] for one in value["parity"]} == {"same"}
    assert len(value["runs"]) == 8
    assert set(value["runs"][0]) == RUN


def test_words(call, prompts):
    with serving(lambda body: saying("a", "b", metrics=VLLM_METRICS)) as on, serving() as off:
        out = call("bench", on.url, "--baseline", off.url, *prompts).out
    assert "speed-up" in out
    assert f"tiny on {on.url}" in out
    assert "n = 6" in out
    assert "774 drafted = 60 accepted + 240 rejected + 474 ignored; α 0.20" in out
    assert "geometric mean over the prompts, n = 2, 95 % interval" in out
    assert "Texts: 2 of 2 the same" in out
    assert max(map(len, out.splitlines()[:6])) <= 80


def test_one_server_by_itself(call, prompts):
    with serving() as only:
        done = call("bench", only.url, *prompts, "--repeats", "1")
    assert done.status == 0
    assert "speed-up" not in done.out.lower()
    assert "may not have drafted at all" in done.out


def test_one_server_that_switches(call, prompts):
    with serving() as both:
        done = call(
            "bench", both.url, *prompts, "--repeats", "1", "--json", "--body", '{"draft": "d"}',
            "--off-body", '{"draft": null, "x": {"mode": "off"}}',
        )  # fmt: skip
    assert set(json.loads(done.out)["sides"]) == {"on", "off"}
    fields = [(body.get("draft"), body.get("x")) for body, _ in both.asked]
    assert all(one in fields for one in (("d", None), (None, {"mode": "off"})))
    assert len(fields) == 6


def test_texts_that_differ_are_shown_with_what_is_known(call, prompts):
    with (
        serving(lambda body: saying("The tide", " rises\n")) as on,
        serving(lambda body: saying("The tide", " comes")) as off,
    ):
        out = call("bench", on.url, "--baseline", off.url, *prompts).out
    assert "Texts: 0 of 2 the same" in out
    assert r"1, character 9: 'rises\n' for 'comes', unexplained" in out


def test_out_keeps_everything(call, prompts, tmp_path):
    file = tmp_path / "out.json"
    with serving() as only:
        done = call("bench", only.url, *prompts, "--repeats", "1", "--out", str(file))
    assert done.status == 0
    assert json.loads(file.read_text())["runs"][0]["text"] == "ab"


def test_a_server_that_dies_leaves_what_was_measured(call, prompts, tmp_path):
    answers = iter([saying("a", "b")] * 3 + [[chunk("a"), DIE]])
    file = tmp_path / "out.json"
    with serving(lambda body: next(answers)) as only:
        done = call("bench", only.url, *prompts, "--out", str(file))
    assert done.status == 2
    assert "Partial: 2 answers were measured" in done.out
    assert done.err.count("\n") == 1
    assert "broke off" in done.err
    kept = json.loads(file.read_text())
    assert (kept["complete"], len(kept["runs"])) == (False, 2)
    assert kept["error"] in done.err


def test_what_cannot_be_written_is_shown(call, prompts, tmp_path):
    with serving() as only:
        done = call("bench", only.url, *prompts, "--repeats", "1", "--out", str(tmp_path))
    assert done.status == 2
    assert f"tiny on {only.url}" in done.out
    assert "What was measured cannot be written" in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--off-body", "off"], "--off-body is 'off'; it must be a JSON object"),
        (["--body", "[1]"], "--body is '[1]'"),
        (["--tokens", "1"], "--tokens"),
        (["--timeout", "0"], "--timeout"),
        (["--prompts", "nowhere.txt"], "nowhere.txt cannot be read"),
        (["--out", "nowhere/out.json"], "There is no folder nowhere"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_asked(refuse, arguments, says):
    with serving() as only:
        refuse("bench", only.url, *arguments, says=says)
    assert only.asked == []


def test_a_server_that_is_none(refuse):
    with serving(models=json_page({"error": "Unexpected endpoint"})) as only:
        refuse("bench", only.url, says="reports an error (Unexpected endpoint)")


def test_help_does_not_load_the_library():
    code = "import sys, foredraft.cli.main; sys.exit('httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_the_library(refuse, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    refuse("bench", "http://localhost:1", says="pip install 'foredraft[bench]'")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_ctrl_c_shows_what_was_measured(prompts, tmp_path):
    file = tmp_path / "out.json"

    def stream(body):
        yield from saying("a", "b")[:-1]
        yield 0.1

    with (
        serving(stream) as only,
        Terminal(
            "bench", only.url, *prompts, "-n", "8", "--repeats", "99", "--out", str(file)
        ) as terminal,
    ):
        terminal.wait_for("Asking.*%")
        terminal.interrupt()
        seen, status = terminal.end()
    assert status == 130
    assert "Partial:" in seen
    assert "Traceback" not in seen
    assert json.loads(file.read_text())["error"] == "interrupted"
