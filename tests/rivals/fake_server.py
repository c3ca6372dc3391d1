"""An OpenAI-compatible server of a few lines, for tests: `answer(body)` is its chat completion."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


def completion(text: str, tokens: int, reason: str = "length") -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return {"choices": [choice], "usage": {"completion_tokens": tokens}}


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Any], models: Any = None) -> Iterator[str]:
    """The URL of a server that is up within the block."""
    named = {"data": [{"id": "tiny"}]} if models is None else models

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(named if self.path == "/v1/models" else None)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._send(answer(body) if self.path == "/v1/chat/completions" else None)

        def _send(self, made: Any) -> None:
            self.send_response(404 if made is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(made).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
