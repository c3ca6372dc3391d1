"""From the bytes of a request to its checked body, and from what is wrong to the field's name."""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json
from starlette.requests import ClientDisconnect

from foredraft.server.errors import Refusal
from foredraft.server.service import Serving

_PATIENCE_S = 30.0
"""A client that takes longer to send its body is let go."""
_LONGEST_NAME = 200

Kind = TypeVar("Kind", bound=BaseModel)


def body(kind: type[Kind]) -> Any:
    """The dependency that reads a body of this kind.

    FastAPI's own would read it before the key is checked, however long it is, and would say 422.
    """

    async def read(request: Request, service: Serving) -> Kind:
        kind_sent = request.headers.get("content-type", "").partition(";")[0]
        if kind_sent.strip().lower() != "application/json":
            # A web page elsewhere cannot make a browser send this type without CORS.
            raise Refusal(400, "Send the body as JSON, with Content-Type: application/json.")
        raw = await _bytes(request, service.settings.max_body)
        try:
            return kind.model_validate_json(
                raw, extra="ignore" if service.settings.lenient else None
            )
        except ValidationError as error:
            raise _refusal(error, raw) from None

    return Depends(read)


async def _bytes(request: Request, most: int) -> bytes:
    raw = bytearray()
    try:
        async with asyncio.timeout(_PATIENCE_S):
            async for chunk in request.stream():
                raw += chunk
                if len(raw) > most:
                    raise Refusal(
                        413,
                        f"The body is longer than {most:,} bytes; shorten it, or start the server "
                        "with a larger --max-body.",
                        code="body_too_large",
                    )
    except ClientDisconnect:
        raise Refusal(400, "The client left before all of the body had arrived.") from None
    except TimeoutError:
        raise Refusal(408, f"The body took longer than {_PATIENCE_S:.0f} s to arrive.") from None
    return bytes(raw)


def _refusal(error: ValidationError, raw: bytes) -> Refusal:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    if found[0]["type"] == "json_invalid":
        return Refusal(400, f"The body is not JSON: {found[0]['msg'].partition(': ')[2]}.")
    data = from_json(raw)
    # A union reports all its alternatives; the one that got furthest was meant.
    first = [item for item in found if item["loc"][:1] == found[0]["loc"][:1]]
    worst = max(first, key=lambda item: _depth(_path(item["loc"], data)))
    param = _named(_path(worst["loc"], data))
    return Refusal(400, _sentence(worst, param), param=param or None)


def _sentence(error: ErrorDetails, param: str) -> str:
    if error["type"] == "extra_forbidden":
        return f"Unknown field {param!r}; leave it out, or start the server with --lenient."
    if error["type"] == "missing":
        return f"The field {param!r} is missing."
    said = error["msg"].removesuffix(".")
    return f"{param or 'body'}: {said[:1].lower()}{said[1:]}."


def _path(place: Sequence[str | int], data: Any) -> list[str | int]:
    """A place without the names of a union's alternatives, which are in no body."""
    path: list[str | int] = []
    for number, step in enumerate(place):
        inside = isinstance(data, dict) and step in data
        inside = inside or (isinstance(data, list) and isinstance(step, int) and step < len(data))
        if inside:
            data = data[step]
            path.append(step)
        elif isinstance(data, dict) and number == len(place) - 1:
            path.append(step)  # the missing field
    return path


def _depth(path: Sequence[str | int]) -> tuple[int, list[int]]:
    """How far into a body a place is, as something to compare."""
    return len(path), [step for step in path if isinstance(step, int)]


def _named(path: Sequence[str | int]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")[:_LONGEST_NAME]
