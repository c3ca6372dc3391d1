"""A server as a process of its own: started on a free port, watched, stopped."""

import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from engines.base import EngineError

START_S = 300
FOREDRAFT = [
    sys.executable,
    "-c",
    "import sys; from foredraft.cli.main import main; sys.exit(main())",
]
"""The `foredraft` command of this very installation."""


@dataclass(slots=True)
class Served:
    """A running server; its output goes to a file so that its last words can be quoted.

    `mend` says what to do if there is no such program. With `env` it gets that environment.
    """

    title: str
    command: list[str]
    mend: str
    env: dict[str, str] | None = None
    port: int = 0
    process: Any = None
    log: Path = field(default_factory=Path)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns once it answers at /health; raises EngineError, and leaves nothing running."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        prefix = f"{self.title.split()[0]}-"
        output = tempfile.NamedTemporaryFile(prefix=prefix, suffix=".log", delete=False)  # noqa: SIM115
        self.log = Path(output.name)
        try:
            self.process = subprocess.Popen(
                [*self.command, "--host", "127.0.0.1", "--port", str(self.port)],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=self.env,
            )
        except OSError as error:
            raise EngineError(
                f"{self.command[0]} cannot be started ({error.strerror}); {self.mend}."
            ) from error
        finally:
            output.close()
        try:
            self._wait()
        except BaseException:
            if self.process.poll() is None:
                self.process.kill()
            raise

    def _wait(self) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            self.check()
            try:
                self.send("/health", None, 5)
                return
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.2)
        raise EngineError(f"{self.title} was not ready in {START_S} s.")

    def check(self) -> None:
        """Raises EngineError, with the log's last line, if the process has ended."""
        code = self.process.poll()
        if code is not None:
            lines = self.log.read_text(errors="replace").strip().splitlines() or ["nothing"]
            raise EngineError(
                f"{self.title} ended with code {code}; its last words in {self.log}: {lines[-1]}"
            )

    def send(self, path: str, body: dict[str, Any] | None, timeout: float) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.url}{path}", data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def stop(self) -> None:
        """End it and forget its log; one that died by itself leaves its log to read."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.log.unlink(missing_ok=True)
