"""The frame around the commands: help, version, mistakes, and a shell's expectations."""

import subprocess
import sys

import pytest

COMMANDS = (
    [],
    ["run"],
    ["chat"],
    ["check"],
    ["plan"],
    ["verify"],
    ["bench"],
    ["watch"],
    ["report"],
    ["export"],
    ["lint-config"],
    ["pull"],
    ["simulate"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help(call, command):
    done = call(*command, "--help")
    assert (done.status, done.err) == (0, "")
    assert "Usage: foredraft" in done.out


def test_without_a_command_the_help_is_shown(call):
    assert call().out == call("--help").out


def test_version(call):
    assert call("--version").out == "foredraft 0.1.0\n"


def test_help_and_the_commands_without_a_model_do_not_import_torch():
    """Importing torch takes seconds, which `foredraft --help` must not."""
    script = """
import sys
from foredraft.cli.main import main
for args in ("--help", "run --help", "pull --list", "simulate -h", "verify -h"):
    assert main(args.split()) == 0, args
assert not {"torch", "transformers", "matplotlib", "rich.progress"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("rnu", "Did you mean 'run'? See `foredraft --help`."),
        ("run --tempreature 1 x", "--temperature"),
        ("run --temperature warm x", "--temperature"),
        ("run --exactness almost x", "'bitwise', 'coupled', 'distribution'"),
        ("run --top-k 1.5 x", "--top-k"),
        ("run two words", "words"),
        ("run --model", "--model"),
        ("--frobnicate", "--frobnicate"),
    ],
)
def test_wrong_usage_is_one_sentence(refuse, arguments, says):
    refuse(*arguments.split(), says=says)


def test_a_bug_is_not_hidden(call, monkeypatch):
    def bug(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("foredraft.cli.options.load", bug)
    with pytest.raises(ZeroDivisionError):
        call("run", "hello")


def test_ctrl_c_anywhere_is_130(call, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("foredraft.cli.options.load", interrupted)
    done = call("run", "hello")
    assert (done.status, done.out, done.err) == (130, "", "")


def shell(line):
    line = f"set -o pipefail; P='{sys.executable} -m tests.cli.parrot'; {line}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_reader_that_has_enough_is_no_error():
    done = shell("PAUSE=0.01 $P run hello | head -c 3")
    assert done.stdout == "die"
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk_is_one_sentence():
    done = shell("$P run hello > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "foredraft: No space left on device.\n"
