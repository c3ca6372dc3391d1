"""The command on a pseudo-terminal, as a person sees it."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

LIMIT_S = 30


class Terminal:
    """`python -m tests.cli.parrot` with `arguments`; `seen` is everything that it has shown."""

    def __init__(self, *arguments, **environment):
        ours, theirs = pty.openpty()

        def begin():
            os.close(ours)
            # A shell starts what runs in its background with Ctrl-C ignored, tests included.
            signal.signal(signal.SIGINT, signal.default_int_handler)

        self._file = ours
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.parrot", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env=os.environ | {"TERM": "xterm", "NO_COLOR": "", **environment},
            preexec_fn=begin,
        )
        os.close(theirs)
        self.seen = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._file)

    def wait_for(self, pattern):
        """Read on until `pattern` is seen in what is new; returns the new text."""
        begun, start = time.monotonic(), len(self.seen)
        while not re.search(pattern, self.seen[start:]):
            assert time.monotonic() - begun < LIMIT_S, f"no {pattern!r} in {self.seen!r}"
            assert self._read(), f"no {pattern!r} in {self.seen!r}"
        return self.seen[start:]

    def type(self, text):
        os.write(self._file, text.encode())

    def settle(self):
        """Wait until the command itself waits: readline does not notice a Ctrl-C that comes
        between showing its prompt and waiting for a key, until the next key."""
        begun, idle = time.monotonic(), 0
        while idle < 10 and time.monotonic() - begun < LIMIT_S:
            time.sleep(0.02)
            state = (
                Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0]
            )
            idle = idle + 1 if state == "S" else 0

    def interrupt(self):
        self._process.send_signal(signal.SIGINT)

    def end(self):
        """Everything seen once the command has ended, and its status."""
        while self._read():
            pass
        return self.seen, self._process.wait(LIMIT_S)

    def _read(self):
        if not select.select([self._file], [], [], LIMIT_S)[0]:
            return False
        try:
            data = os.read(self._file, 1 << 16)
        except OSError:  # how Linux says that the other side is closed
            return False
        self.seen += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)
