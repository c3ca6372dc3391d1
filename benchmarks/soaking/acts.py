"""What clients do: ask, stream, read slowly, hang up, and send what no server should get."""

import json
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from soaking.cases import CHAT, Case, texts

TIMEOUT_S = 300.0


class Wrong(Exception):
    """The server did what it must not; the text says what."""


class Turned(Exception):
    """The queue was full, which a busy server may say."""


@dataclass(frozen=True, slots=True)
class Client:
    """One of the crowd; `max_body` is in bytes."""

    url: str
    key: str
    cases: tuple[Case, ...]
    drafters: tuple[str, ...]
    exactness: str
    max_body: int
    chance: random.Random

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def post(self, path: str, **sent: Any) -> httpx2.Response:
        response = httpx2.post(
            self.url + path, **({"headers": self.headers, "timeout": TIMEOUT_S} | sent)
        )
        return _checked(response)

    @contextmanager
    def stream(self, path: str, body: dict[str, Any]) -> Iterator[Iterator[str]]:
        """The lines of a streamed answer; leaving early hangs up."""
        sent = {"json": body | {"stream": True}, "headers": self.headers, "timeout": TIMEOUT_S}
        with httpx2.stream("POST", self.url + path, **sent) as response:
            if response.status_code != 200:
                response.read()
                raise Wrong(
                    f"a stream began with {response.status_code}: {_checked(response).text}"
                )
            yield response.iter_lines()

    def case(self) -> Case:
        return self.chance.choice(self.cases)

    def drafting(self, exactness: str) -> dict[str, Any]:
        """Some way to be drafted for."""
        name = self.chance.choice(self.drafters) if self.drafters else "auto"
        ways: list[dict[str, Any]] = [{}, {"mode": "off"}, {"mode": name}]
        ways.append({"mode": "auto", "user_scope": self.chance.choice(("ann", "ben"))})
        if self.drafters:
            ways.append({"mode": name, "draft_len": self.chance.choice((1, 4))})
        details = {"details": self.chance.random() < 0.3}
        return {"speculation": self.chance.choice(ways) | details | {"exactness": exactness}}


def _checked(response: httpx2.Response) -> httpx2.Response:
    if response.status_code == 429 and "retry-after" in response.headers:
        raise Turned
    return response


def whole(client: Client) -> None:
    """An answer in one piece, perhaps several choices or with log-probabilities."""
    case = client.case()
    body = case.body | client.drafting(client.exactness)
    choices = client.chance.choice((1, 1, 1, 3)) if case.greedy else 1
    body |= {"n": choices} if choices > 1 else {}
    logprobs = client.chance.random() < 0.3
    if logprobs:
        body |= {"logprobs": True, "top_logprobs": 2} if case.path == CHAT else {"logprobs": 2}
    response = client.post(case.path, json=body)
    if response.status_code != 200:
        raise Wrong(f"{response.status_code} for {body}: {response.text[:300]}")
    answer = response.json()
    _same(texts(answer), [case.text] * choices, body)
    if logprobs and any(value > 0 for value in _logprobs(answer["choices"][0])):
        raise Wrong(f"a log-probability above 0 for {body}")


def streamed(client: Client, pause: float = 0.0) -> None:
    """An answer as it comes; with a `pause`, read slowly."""
    case = client.case()
    body = case.body | client.drafting(client.exactness)
    pieces, ended = [], False
    with client.stream(case.path, body) as lines:
        for line in lines:
            time.sleep(client.chance.uniform(0, pause))
            if line == "data: [DONE]":
                ended = True
            elif line.startswith("data: "):
                chunk = json.loads(line.removeprefix("data: "))
                if "error" in chunk:
                    raise Wrong(f"an error in the stream of {body}: {chunk['error']}")
                pieces += texts(chunk)
    if not ended:
        raise Wrong(f"the stream of {body} ended without [DONE]")
    _same(["".join(pieces)], [case.text], body)


def slow(client: Client) -> None:
    """A reader who is slower than the model."""
    streamed(client, pause=0.4)


def cancelled(client: Client) -> None:
    """Hang up in the middle of a long stream."""
    case, lines = client.case(), client.chance.randrange(8)
    body = case.body | {"max_tokens": 64, "ignore_eos": True} | client.drafting("coupled")
    with client.stream(case.path, body) as answer:
        for _ in range(lines):
            next(answer, None)


def vanished(client: Client) -> None:
    """Hang up before there is anything to read, perhaps in the middle of the question."""
    case = client.case()
    body = json.dumps(case.body | client.drafting("coupled")).encode()
    host, port = client.url.removeprefix("http://").split(":")
    head = f"POST {case.path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {client.key}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    sent = head.encode() + body
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(sent[: client.chance.choice((len(sent), len(sent) - 20, len(head)))])
        time.sleep(client.chance.uniform(0, 0.3))


def sampled(client: Client) -> None:
    """An answer whose text nobody can know."""
    law = {"temperature": 1.1, "top_p": 0.9, "top_k": client.chance.choice((0, 40))}
    levels = ("coupled", "distribution")
    case = client.case()
    body = case.body | law | client.drafting(client.chance.choice(levels))
    response = client.post(case.path, json=body)
    if response.status_code != 200:
        raise Wrong(f"{response.status_code} for {body}: {response.text[:300]}")


BAD = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b'{"messages": []}',
    b'{"messages": [{"role": "user"}], "max_tokens": 0}',
    b'{"messages": [{"role": "user", "content": 7}]}',
    b'{"messages": [{"role": "user", "content": "a"}], "max_tokens": -1}',
    b'{"messages": [{"role": "user", "content": "a"}], "temperature": NaN}',
    b'{"messages": [{"role": "user", "content": "a"}], "n": 100000}',
    b'{"messages": [{"role": "user", "content": "a"}], "stop": [""]}',
    b'{"messages": [{"role": "user", "content": "a"}], "speculation": {"mode": "magic"}}',
    b'{"messages": [{"role": "user", "content": "a"}], "speculation": {"allow_lossy": true}}',
    b'{"messages": [{"role": "user", "content": "a"}], "no_such_field": 1}',
    b"[" * 20000,
)


def malformed(client: Client) -> None:
    """A body that is none."""
    _refused(client, 400, content=client.chance.choice(BAD))


def stranger(client: Client) -> None:
    """A key that opens nothing."""
    key = client.chance.choice(("Bearer wrong", "wrong", "Bearer ü", "Bearer " + "x" * 5000))
    _refused(client, 401, json=client.case().body, headers={"Authorization": key.encode()})


def oversized(client: Client) -> None:
    """A body above the limit."""
    _refused(client, 413, content=b'{"prompt": "' + b"a" * client.max_body + b'"}')


def lost(client: Client) -> None:
    """A model that is not served here."""
    case = client.case()
    _refused(client, 404, path=case.path, json=case.body | {"model": "another"})


def looked(client: Client) -> None:
    """The pages that show how the server is."""
    for path in ("/health", "/metrics", "/foredraft/status", "/v1/models"):
        response = httpx2.get(client.url + path, headers=client.headers, timeout=TIMEOUT_S)
        if response.status_code != 200:
            raise Wrong(f"{response.status_code} for {path}")


Act = Callable[[Client], None]
ACTS: dict[Act, int] = {
    whole: 5,
    streamed: 5,
    slow: 1,
    cancelled: 3,
    vanished: 1,
    sampled: 2,
    malformed: 2,
    stranger: 1,
    oversized: 1,
    lost: 1,
    looked: 1,
}
"""Every act and how often it is done, beside the others."""


def _refused(client: Client, status: int, path: str = CHAT, **sent: Any) -> None:
    sent = {"headers": client.headers | {"Content-Type": "application/json"}} | sent
    response = client.post(path, **sent)
    known = str(sent.get("content", sent.get("json")))[:120]
    if response.status_code != status:
        raise Wrong(f"{response.status_code} where {status} was due for {known}")
    try:
        message = response.json()["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = None
    if not message:
        raise Wrong(f"{status} without an error message for {known}")


def _same(found: list[str], due: list[str], body: dict[str, Any]) -> None:
    if found != due:
        raise Wrong(f"wrong text for {body}: {found} instead of {due}")


def _logprobs(choice: dict[str, Any]) -> list[float]:
    told = choice["logprobs"]
    if "token_logprobs" in told:
        return list(told["token_logprobs"])
    return [token["logprob"] for token in told["content"]]
