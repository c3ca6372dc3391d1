"""The exported command on a real llama-server, named by $LLAMA_SERVER; and its removed flags."""

import json
import os
import re
import shlex
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from foredraft.planner.export import export
from foredraft.planner.lint import Severity, lint
from foredraft.planner.plan import Plan
from foredraft.targets import hub
from tests.planner.export.test_llama_cpp import FLAGS, command
from tests.planner.plans import LOSING, plan

SERVER = os.environ.get("LLAMA_SERVER", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SERVER, reason="LLAMA_SERVER names no llama-server"),
    pytest.mark.skipif(hub.cached("smollm2") is None, reason="smollm2 is not in the cache"),
]
REPEATING = "one two three four five six seven eight nine ten." * 5 + "one two three"


def of(drafter: str) -> Plan:
    return plan(drafter, {"draft": "smollm2"} if drafter == "model" else None, target="smollm2")


@contextmanager
def serving(words: list[str]) -> Iterator[int]:
    """The port of a server started with the flags of a command."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = ["--port", str(port), "--ctx-size", "1024", "--threads", "1", "--no-repack"]
    process = subprocess.Popen(
        [SERVER, *words[1:], *own], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(300):
            assert process.poll() is None, "the server has ended"
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(30)


def timings(port: int, **body: Any) -> dict[str, Any]:
    body = {"prompt": REPEATING, "n_predict": 32, "temperature": 0} | body
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/completion",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        found: dict[str, Any] = json.load(answer)["timings"]
    return found


def test_the_recorded_flags_are_those_of_the_help() -> None:
    text = subprocess.run([SERVER, "--help"], capture_output=True, text=True, check=True).stdout
    shown = {
        flag
        for block in re.split(r"\n(?=-)", text)
        if block.startswith("-") and "has been removed" not in block
        for flag in re.findall(r"(?:^|, +)(--?[A-Za-z][\w-]*)", block.split("\n")[0])
    }
    assert shown == set(FLAGS)


@pytest.mark.parametrize("drafter", ["model", "ngram", "suffix"])
def test_the_exported_command_drafts(drafter: str) -> None:
    with serving(command(of(drafter))) as port:
        counted = timings(port)
    assert counted["draft_n"] > 0
    assert counted["draft_n_accepted"] > 0


def test_plain_settings_do_not_draft() -> None:
    with serving(command(replace(LOSING, target="smollm2"))) as port:
        assert "draft_n" not in timings(port)


def test_a_draft_model_without_a_type_does_nothing_nor_do_settings_in_requests() -> None:
    weights = str(hub.cached("smollm2"))
    words = ["llama-server", "--model", weights, "-md", weights]
    assert [finding.severity for finding in lint(shlex.join(words))[1]] == [Severity.IGNORED]
    with serving(words) as port:
        assert "draft_n" not in timings(port)
    with serving(command(of("model"))) as port:
        assert timings(port, **{"speculative.n_max": 0})["draft_n"] > 0


@pytest.mark.parametrize(
    "words",
    [
        "--draft-max 16",
        "--draft 16",
        "--draft-min 1",
        "--spec-ngram-size-n 4",
        "-cd 512",
        "--spec-replace a b",
        "--spec-draft-conf-min 0.5",
        "--spec-type draft",
    ],
)
def test_what_is_called_an_error_stops_the_server(words: str) -> None:
    model = ["--model", str(hub.cached("smollm2"))]
    done = subprocess.run([SERVER, *model, *words.split()], capture_output=True, timeout=60)
    assert done.returncode != 0
    severities = {finding.severity for finding in lint(f"llama-server {words}")[1]}
    assert Severity.ERROR in severities


@pytest.mark.parametrize(("n", "m", "drafts"), [(12, 8, False), (3, 4, True)])
def test_a_copy_shorter_than_the_match_never_drafts(n: int, m: int, drafts: bool) -> None:
    sizes = ["--spec-ngram-simple-size-n", str(n), "--spec-ngram-simple-size-m", str(m)]
    words = ["llama-server", "--model", str(hub.cached("smollm2"))]
    words += ["--spec-type", "ngram-simple", *sizes]
    assert bool(lint(shlex.join(words))[1]) is not drafts
    with serving(words) as port:
        assert ("draft_n" in timings(port)) is drafts


def test_the_export_is_clean_to_lint() -> None:
    assert lint(export(plan(), "llama.cpp").text)[1] == []
