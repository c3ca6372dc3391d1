"""`foredraft serve`: from its first line to its last answer."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import httpx2
import pytest

import foredraft
from tests.cli.parrot import SAYS
from tests.server.serving import ASK

LONG = "so lang wie breit " * 10


@contextmanager
def running(*arguments, **environment):
    """The command as a process of its own, once it serves; its `url` is what it says."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.parrot", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
        # A shell starts what runs in its background with Ctrl-C ignored, tests included.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        said = process.stdout.readline()
        assert said, process.stderr.read()
        process.url = re.search(r"http://\S+(?=/v1)", said)[0]
        process.said = said
        yield process
    finally:
        process.kill()
        process.wait()


def ask(url, **fields):
    body = {"messages": ASK, "temperature": 0} | fields
    return httpx2.post(f"{url}/v1/chat/completions", json=body, timeout=20)


def begun(server):
    """A request under way: a list that will hold its reply, and the thread that waits for it."""
    replies = []
    thread = threading.Thread(target=lambda: replies.append(ask(server.url)))
    thread.start()
    while not httpx2.get(f"{server.url}/foredraft/status").json()["running"]:
        pass
    return replies, thread


def test_it_serves_and_ends():
    with running("other", "--served-name", "polly", "--drafter", "ngram") as server:
        assert server.said == (
            f"parrot is at {server.url}/v1, drafted for by ngram; the page is {server.url}/.\n"
        )
        for name in ("parrot", "polly"):
            reply = ask(server.url, model=name).json()
            assert reply["choices"][0]["message"]["content"] == SAYS
            assert reply["model"] == "parrot"
        ask(server.url, temperatur=1)
        server.send_signal(signal.SIGTERM)
        out, log = server.communicate(timeout=20)
    assert (server.returncode, out) == (0, "")
    assert re.search(r"^\d\d:\d\d:\d\d chatcmpl-\S+ 12 \+ 56 tokens, ", log, re.M)
    assert "POST /v1/chat/completions 400 temperatur" in log
    assert "hello" not in log
    assert "Flut" not in log


def test_prompts_are_logged_if_asked():
    with running("--log-prompts") as server:
        ask(server.url, max_tokens=3)
        server.terminate()
        log = server.communicate(timeout=20)[1]
    assert "'user: hello' -> 'die'" in log


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_what_runs_is_finished(sign):
    with running("--drafter", "none", SAYS=LONG, PAUSE="0.004") as server:
        replies, thread = begun(server)
        server.send_signal(sign)
        while httpx2.get(f"{server.url}/health").status_code == 200:
            pass
        assert ask(server.url).status_code == 503
        thread.join(20)
        _, log = server.communicate(timeout=20)
    assert replies[0].json()["choices"][0]["message"]["content"] == LONG
    assert server.returncode == 0
    assert ("Ctrl-C again stops at once" in log) == (sign == signal.SIGINT)


def test_what_runs_is_cut_when_the_grace_is_over():
    with running("--grace", "0.1", SAYS=LONG, PAUSE="0.5") as server:
        replies, thread = begun(server)
        server.terminate()
        thread.join(20)
        server.communicate(timeout=20)
    assert replies[0].status_code == 503
    assert server.returncode == 0


def test_a_second_signal_stops_at_once():
    with running(SAYS=LONG, PAUSE="0.5") as server:
        stream = {"messages": ASK, "stream": True}
        with httpx2.stream("POST", f"{server.url}/v1/chat/completions", json=stream) as reply:
            lines = reply.iter_lines()
            next(lines)
            server.send_signal(signal.SIGINT)
            while httpx2.get(f"{server.url}/health").status_code == 200:
                pass
            server.send_signal(signal.SIGINT)
            _, log = server.communicate(timeout=10)
    assert server.returncode == 130
    assert log == "Finishing what runs; Ctrl-C again stops at once.\n"


def test_a_port_in_use(parrot, refuse):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refuse("serve", "--port", port, says=f"127.0.0.1 port {port} cannot be served on")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_other_machines_need_a_key(parrot, refuse, host):
    refuse("serve", "--host", host, says="needs --api-key KEY")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--api-key", ""), "--api-key is empty"),
        (("--host", "no.such.host.invalid", "--api-key", "k"), "cannot be served on"),
        (("--port", "70000"), "--port"),
        (("--slots", "0"), "--slots"),
        (("--temperature", "1"), "--temperature"),
    ],
)
def test_bad_settings(parrot, refuse, arguments, says):
    refuse("serve", *arguments, says=says)


def test_the_key_may_come_from_the_environment():
    with running("--host", "0.0.0.0", FOREDRAFT_API_KEY="secret") as server:
        assert server.url.startswith("http://localhost:")
        assert httpx2.get(f"{server.url}/v1/models").status_code == 401
        key = {"Authorization": "Bearer secret"}
        assert httpx2.get(f"{server.url}/v1/models", headers=key).is_success


def test_settings_reach_the_server():
    limits = ("--max-body", "1", "--lenient", "--cors", "https://page.example", "--timeout", "0.2")
    with running(*limits, SAYS=LONG, PAUSE="0.05") as server:
        assert ask(server.url, user="x" * 1024).status_code == 413
        assert ask(server.url, temperatur=1, max_tokens=1).is_success
        assert ask(server.url).status_code == 504
        page = {"Origin": "https://page.example"}
        reply = httpx2.get(f"{server.url}/health", headers=page)
        assert reply.headers["access-control-allow-origin"] == page["Origin"]


def test_help_needs_no_web_framework():
    script = (
        "import sys; from foredraft.cli.main import main; main(['serve', '--help']); "
        "sys.exit('fastapi' in sys.modules or 'uvicorn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0


def test_without_the_extra_it_says_what_to_install(parrot, refuse, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    # Importing a room anew would leave the package with one that the others do not know.
    monkeypatch.setattr(foredraft, "server", foredraft.server)
    for name in [name for name in sys.modules if name.startswith("foredraft.server")]:
        monkeypatch.delitem(sys.modules, name)
    refuse("serve", says="Serving needs fastapi; install it with: pip install 'foredraft[server]'.")
