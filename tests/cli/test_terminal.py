"""What a person sees on a terminal: colours, Ctrl-C, and the cursor left as it was."""

import re
import sys

import pytest

if sys.platform == "win32":
    pytest.skip("needs a pseudo-terminal", allow_module_level=True)

from tests.cli.terminal import Terminal

GREEN, DIM, PLAIN = "\x1b[32m", "\x1b[2m", "\x1b[0m"
HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"


def test_drafted_tokens_and_their_legend_are_green():
    with Terminal("run", "hello") as terminal:
        seen, status = terminal.end()
    assert status == 0
    assert f"die Flut kommt, di{GREEN}e{PLAIN}" in seen
    assert f"{DIM}56 tokens, {PLAIN}{GREEN}19 of them from the draft{PLAIN}{DIM} ·" in seen


@pytest.mark.parametrize(
    ("flags", "environment"),
    [(["--no-color"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})],
)
def test_colours_can_be_switched_off(flags, environment):
    with Terminal("run", "hello", *flags, **environment) as terminal:
        seen, status = terminal.end()
    assert status == 0
    assert "\x1b" not in seen


def test_a_model_cannot_take_over_the_terminal():
    with Terminal("run", "hello", "--no-color", SAYS="a\x1b[2J\x07\tb\x9bm\nc") as terminal:
        seen, _ = terminal.end()
    assert seen.startswith("a[2J\tbm\nc\n")


def test_the_last_line_breaks_between_its_parts():
    with Terminal("run", "hello", "--no-color", COLUMNS="40", PAUSE="0.01") as terminal:
        seen, _ = terminal.end()
    lines = seen.strip().splitlines()[2:]
    assert len(lines) > 3
    assert all(len(line) <= 40 for line in lines)
    assert "(measured 10 ms/token) ·" in seen
    assert [line.endswith(" ·") for line in lines] == [True] * (len(lines) - 1) + [False]


def test_ctrl_c_ends_a_generation():
    with Terminal("run", "hello", "--no-color", PAUSE="0.05") as terminal:
        terminal.wait_for("die")
        terminal.interrupt()
        seen, status = terminal.end()
    assert status == 130
    assert re.fullmatch(r"die[^\n]*\n", seen)


def test_ctrl_c_ends_a_download_and_leaves_nothing(tmp_path):
    with Terminal("pull", "smollm2", FOREDRAFT_CACHE=str(tmp_path)) as terminal:
        terminal.wait_for("Downloading smollm2")
        terminal.interrupt()
        seen, status = terminal.end()
    assert status == 130
    assert list(tmp_path.iterdir()) == []
    assert seen.rindex(SHOWN) > seen.rindex(HIDDEN)
    assert "Traceback" not in seen


def test_a_chat_stops_an_answer_and_goes_on():
    with Terminal("chat", "--no-color", PAUSE="0.05") as terminal:
        terminal.wait_for("> ")
        terminal.type("hello\n")
        terminal.wait_for("die")
        terminal.interrupt()
        terminal.wait_for(r"tokens? \(interrupted\)[^>]*> ")
        terminal.type("/stats\n")
        terminal.wait_for("answer [^>]*> ")
        terminal.settle()
        terminal.interrupt()
        seen, status = terminal.end()
    assert status == 0
    assert seen.endswith("\n")
    assert "Traceback" not in seen
