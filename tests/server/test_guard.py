"""Keys, hosts and web pages elsewhere."""

import openai
import pytest

from tests.server.conftest import parrot
from tests.server.serving import ASK, error_of, serving

KEYED = ["/v1/models", "/metrics", "/foredraft/status"]


@pytest.fixture(scope="module")
def keyed():
    with serving(parrot(), keys=("first", "second")) as served:
        yield served


@pytest.mark.parametrize("sent", [{}, {"Authorization": "Bearer third"}, {"Authorization": "x"}])
@pytest.mark.parametrize("path", KEYED)
def test_without_the_key(keyed, path, sent):
    reply = keyed.get(path, headers=sent)
    error = error_of(reply, 401)
    assert (error["type"], error["code"]) == ("authentication_error", "invalid_api_key")
    assert reply.headers["www-authenticate"] == "Bearer"


def test_without_the_key_no_body_is_read(keyed):
    with keyed.connection() as client:
        client.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"
        )
        assert client.recv(1000).startswith(b"HTTP/1.1 401 ")


def test_with_a_key(keyed):
    for key in ("first", "second"):
        assert keyed.get("/v1/models", headers={"Authorization": f"Bearer {key}"}).is_success
        with openai.OpenAI(base_url=f"{keyed.url}/v1", api_key=key) as client:
            assert client.chat.completions.create(model="parrot", messages=ASK).choices


def test_openais_client_says_so(keyed):
    with (
        openai.OpenAI(base_url=f"{keyed.url}/v1", api_key="wrong") as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.models.list()


def test_health_needs_no_key(keyed):
    assert keyed.get("/health").json() == {"status": "ok"}


def test_places_are_shared_out_by_key_and_else_by_address(keyed, served, monkeypatch):
    owners = []
    for server in (keyed, served):
        submit = server.service.scheduler.submit

        def spy(*given, submit=submit, owner, **options):
            owners.append(owner)
            return submit(*given, owner=owner, **options)

        monkeypatch.setattr(server.service.scheduler, "submit", spy)
    for key in ("first", "second", "first"):
        sent = {"Authorization": f"Bearer {key}"}
        keyed.post("/v1/chat/completions", {"messages": ASK}, headers=sent)
    served.chat()
    assert owners[0] == owners[2] != owners[1]
    assert "first" not in owners[0]
    assert owners[3] == "127.0.0.1"


@pytest.mark.parametrize("host", ["localhost:80", "127.0.0.1", "[::1]:8000", "192.168.0.2:9"])
def test_a_host_that_is_a_number(served, host):
    assert served.get("/v1/models", headers={"Host": host}).is_success


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:80", "[::1", "a b"])
def test_a_host_that_is_a_name(served, host):
    for path in ("/v1/models", "/health", "/"):
        assert error_of(served.get(path, headers={"Host": host}), 403)["code"] == "host_not_allowed"


def test_with_a_key_any_host_will_do(keyed):
    sent = {"Host": "gpu.example", "Authorization": "Bearer first"}
    assert keyed.get("/v1/models", headers=sent).is_success


def test_other_origins_are_not_let_in(served):
    reply = served.get("/v1/models", headers={"Origin": "https://page.example"})
    assert "access-control-allow-origin" not in reply.headers


def test_an_origin_that_is_let_in():
    page = {"Origin": "https://page.example"}
    ask = page | {"Access-Control-Request-Method": "POST"}
    with serving(parrot(), origins=("https://page.example",), keys=("k",)) as served:
        allowed = served.http.options("/v1/chat/completions", headers=ask)
        reply = served.get("/v1/models", headers=page | {"Authorization": "Bearer k"})
        other = served.get("/v1/models", headers={"Origin": "https://other.example"})
    for one in (allowed, reply):
        assert one.is_success
        assert one.headers["access-control-allow-origin"] == "https://page.example"
    assert "access-control-allow-origin" not in other.headers
