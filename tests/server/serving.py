"""A real server on a free port, in a thread, and plain requests to it."""

import json
import socket
import threading
import time
from contextlib import contextmanager

import httpx2
import uvicorn

from foredraft.engine.scheduler import Scheduler
from foredraft.server.app import create_app
from foredraft.server.service import Service, Settings

FIXED = {"mode": "ngram", "draft_len": 5}
"""Drafts that do not hang on how fast the tests run."""
ASK = [{"role": "user", "content": "hello"}]


class Served:
    """The server, and a client of it that is no OpenAI client."""

    def __init__(self, url, service):
        self.url = url
        self.service = service
        self.http = httpx2.Client(base_url=url, timeout=20)

    def get(self, path, **options):
        return self.http.get(path, **options)

    def post(self, path, body, **options):
        return self.http.post(path, json=body, **options)

    def chat(self, **fields):
        """A whole answer's JSON, to a greedy request."""
        reply = self.post("/v1/chat/completions", {"messages": ASK, "temperature": 0} | fields)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def chunks(self, **fields):
        """A stream's events, parsed; the last is the string [DONE] in a stream that ended well."""
        body = {"messages": ASK, "temperature": 0, "stream": True} | fields
        with self.http.stream("POST", "/v1/chat/completions", json=body) as reply:
            assert reply.status_code == 200, reply.read()
            lines = [line.removeprefix("data: ") for line in reply.iter_lines() if line]
        return [line if line == "[DONE]" else json.loads(line) for line in lines]

    def refused(self, status, path="/v1/chat/completions", **fields):
        """Assert that a body is refused as every one is; the error object."""
        body = {"messages": ASK} | fields if path == "/v1/chat/completions" else fields
        return error_of(self.post(path, body), status)

    def connection(self):
        """A bare connection, for what no client would send."""
        return socket.create_connection(("127.0.0.1", int(self.url.rpartition(":")[2])))

    def wait(self, true, limit_s=20.0):
        """Until `true()`."""
        end = time.monotonic() + limit_s
        while not true():
            assert time.monotonic() < end
            time.sleep(0.005)

    def wait_busy(self):
        self.wait(lambda: self.service.scheduler.load.running)

    def wait_idle(self):
        self.wait(lambda: self._idle(self.service.scheduler.load))

    @staticmethod
    def _idle(load):
        return load.running == load.waiting == 0


def error_of(reply, status):
    """The error object of a reply that must have this status."""
    assert reply.status_code == status, reply.text
    (error,) = reply.json().values()
    assert list(error) == ["message", "type", "param", "code"]
    assert error["message"].endswith(".")
    return error


@contextmanager
def serving(generator, *, slots=16, queue=64, **settings):
    """Serve a generator; `settings` are those of the server."""
    scheduler = Scheduler(generator, slots=slots, queue=queue)
    service = Service(scheduler, Settings((generator.target.name,), **settings))
    server = uvicorn.Server(uvicorn.Config(create_app(service), log_config=None, lifespan="off"))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    served = Served(f"http://127.0.0.1:{listener.getsockname()[1]}", service)
    try:
        yield served
    finally:
        served.http.close()
        scheduler.close()
        server.should_exit = server.force_exit = True
        thread.join(5)
