"""A server's life: from an address to the last answer given."""

import ipaddress
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from types import FrameType

import uvicorn

from foredraft.core.errors import ForedraftError
from foredraft.server.app import create_app
from foredraft.server.service import Service

_LINGER_S = 5
"""How long the last answers may take to be sent when the grace is over."""


def bind(host: str, port: int) -> socket.socket:
    """The address, taken but not listened to yet, so that a model is not loaded in vain."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        # localhost is both; clients that know one of them know IPv4.
        family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
        taken = socket.socket(family, kind, protocol)
        if os.name == "posix":  # elsewhere it would share the port with another server
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ForedraftError(
            f"{host} port {port} cannot be served on ({reason}); choose others with --host and "
            "--port."
        ) from error
    return taken


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on that host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def url_of(taken: socket.socket) -> str:
    """The address as a browser wants it."""
    host, port = taken.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "localhost"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    service: Service, taken: socket.socket, grace_s: float, ready: Callable[[], None]
) -> None:
    """Serve until a signal, then let what runs finish within the grace; another ends the process.

    `ready` is called when clients can be served.
    """
    config = uvicorn.Config(
        create_app(service),
        log_config=None,
        access_log=False,
        ws="none",
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_LINGER_S,
    )
    with closing(taken):
        _Server(config, service, grace_s, ready).run([taken])


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        service: Service,
        grace_s: float,
        ready: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._service = service
        self._grace_s = grace_s
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal. While it drains the server still says so to those who ask for its health."""
        if self._service.draining.is_set():
            # Python's own end would take the model from under the pass that is being made.
            os._exit(128 + sig)
        self._service.draining.set()
        if sig == signal.SIGINT and self._service.scheduler.load.running:
            print("Finishing what runs; Ctrl-C again stops at once.", file=sys.stderr)
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self) -> None:
        try:
            self._service.scheduler.close(self._grace_s)
        finally:
            self.should_exit = True
