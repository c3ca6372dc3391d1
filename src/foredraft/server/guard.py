"""Who may ask: keys, and for a server without keys the host it is asked by."""

import hashlib
import hmac
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from foredraft.server.errors import Refusal
from foredraft.server.service import Serving

_BEARER = HTTPBearer(auto_error=False, description="The server's --api-key, where it has one.")


def check_key(
    request: Request,
    service: Serving,
    given: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
) -> None:
    """Refuse a request without one of the server's keys, and note whose it is."""
    keys = service.settings.keys
    key = given.credentials if given is not None else ""
    if keys and not _known(key, keys):
        raise Refusal(
            401,
            "The API key is missing or wrong; send 'Authorization: Bearer KEY'.",
            code="invalid_api_key",
            headers={"WWW-Authenticate": "Bearer"},
        )
    address = request.client.host if request.client is not None else ""
    # Clients that share the only key are told apart by where they are.
    request.state.owner = _digest(key) if len(keys) > 1 else address


def owner_of(request: Request) -> str:
    """Whose request this is; places are shared out among owners."""
    owner: str = request.state.owner
    return owner


def _known(key: str, keys: Sequence[str]) -> bool:
    """Whether the key is among those; takes as long whichever it is, or if it is none."""
    digest = _digest(key)
    return sum(hmac.compare_digest(digest, _digest(known)) for known in keys) > 0


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()


class LocalHosts:
    """Lets in only requests addressed to this machine by number or as localhost.

    A page whose name was made to resolve to this machine (DNS rebinding) could otherwise ask a
    server that wants no key from within a visitor's browser.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _is_local(Headers(scope=scope).get("host", "")):
            refusal = Refusal(
                403,
                "Without --api-key this server answers only to localhost and to IP addresses; ask "
                "http://127.0.0.1 or start it with a key.",
                code="host_not_allowed",
            )
            await refusal.response(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _is_local(header: str) -> bool:
    try:
        host = urlsplit(f"//{header}").hostname
        return host in (None, "localhost") or bool(ip_address(str(host)))
    except ValueError:
        return False
