"""A real server on a free port, in a thread."""

import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from foredraft.engine.scheduler import Scheduler
from foredraft.server.app import create_app
from foredraft.server.service import Service, Settings


@dataclass
class Served:
    url: str
    service: Service

    def wait_idle(self, limit_s=5.0):
        """Until nothing runs or waits."""
        end = time.monotonic() + limit_s
        while (load := self.service.scheduler.load).running or load.waiting:
            assert time.monotonic() < end, load
            time.sleep(0.01)


@contextmanager
def serving(generator, *, slots=16, queue=64, **settings):
    """Serve a generator; `settings` are those of the server."""
    scheduler = Scheduler(generator, slots=slots, queue=queue)
    service = Service(scheduler, Settings((generator.target.name,), **settings))
    server = uvicorn.Server(uvicorn.Config(create_app(service), log_level="warning"))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    try:
        yield Served(f"http://127.0.0.1:{listener.getsockname()[1]}", service)
    finally:
        scheduler.close()
        server.should_exit = server.force_exit = True
        thread.join(5)
