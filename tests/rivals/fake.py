"""A server that speaks as much of OpenAI's interface as a test wants."""

import json
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIE = object()
"""In a stream: the server closes the connection there."""


def chunk(text=None, finish=None, **more):
    """A chunk of a streamed chat completion."""
    delta = {} if text is None else {"content": text}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def usage(tokens, **more):
    """The last chunk, with the count of tokens."""
    return {"choices": [], "usage": {"completion_tokens": tokens}, **more}


def saying(*pieces, tokens=None, finish="stop", **more):
    """A whole stream; `more` goes into its last chunk, where engines put their counters."""
    tokens = len(pieces) if tokens is None else tokens
    return [*map(chunk, pieces), chunk(finish=finish), usage(tokens, **more), "[DONE]"]


class Fake:
    """`stream(body)` gives the items of an answer: a chunk, a string to send as it is, seconds to
    wait, or DIE. `pages` are (status, content type, text) by path, or functions that give them."""

    def __init__(self, stream, pages):
        self.stream, self.pages, self.asked = stream, pages, []
        self.url = ""

    def get(self, path):
        page = self.pages.get(path, (404, "application/json", '{"error": "File Not Found"}'))
        return page() if callable(page) else page

    def whole(self, body):
        return self.pages.get("whole", lambda body: (400, "application/json", "{}"))(body)


def json_page(value, status=200):
    return status, "application/json", json.dumps(value)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that closes a connection it kept open is no error worth printing."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(stream=lambda body: saying("a", "b"), **pages):
    """A running Fake; pages by name: models, metrics, slots, chat (instead of a stream), whole."""
    paths = {"models": "/v1/models", "metrics": "/metrics", "slots": "/slots"}
    fake = Fake(stream, {paths.get(name, name): page for name, page in pages.items()})
    fake.pages.setdefault("/v1/models", json_page({"data": [{"id": "tiny"}]}))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            self.reply(*fake.get(self.path))

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.asked.append((body, dict(self.headers)))
            if "chat" in fake.pages:
                self.reply(*fake.pages["chat"])
            elif body.get("stream"):
                self.reply_stream(fake.stream(body))
            else:
                self.reply(*fake.whole(body))

        def reply(self, status, kind, text):
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def reply_stream(self, items):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                for item in items:
                    if item is DIE:
                        self.close_connection = True
                        return
                    if isinstance(item, float):
                        time.sleep(item)
                        continue
                    data = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
                    self.send(f"data: {data}\n\n".encode())
                self.send(b"")
            except (BrokenPipeError, ConnectionResetError):  # whoever asked has given up
                self.close_connection = True

        def send(self, data):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    server = _Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
