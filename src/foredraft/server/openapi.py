"""What /openapi.json says beyond what FastAPI finds out by itself: bodies and refusals."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from foredraft.server.replies import ErrorReply

_SAYS = {
    400: "A field is wrong; `param` names it.",
    401: "The key is missing or wrong.",
    403: "The server has no key and was asked under a name that is not localhost.",
    404: "There is no such model.",
    408: "The body took too long to arrive.",
    413: "The body is too long.",
    429: "The queue is full; `Retry-After` says when to come back.",
    500: "The server failed.",
    503: "The server is shutting down.",
    504: "The answer took longer than the server allows.",
}

GUARDED = (401, 403)
BODY = (400, 408, 413)
GENERATION = (*BODY, 404, 429, 500, 503, 504)


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that may answer with these."""
    return {code: {"model": ErrorReply, "description": _SAYS[code]} for code in statuses}


def answers(kind: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that generates: `kind`, or a stream, or a refusal."""
    event = {"type": "object", "properties": {"data": {"type": "string"}}, "required": ["data"]}
    stream = {"text/event-stream": {"schema": event}}
    whole = {"model": kind, "description": "The answer, or its stream.", "content": stream}
    return {200: whole, **refusals(*GENERATION)}


def takes(kind: type[BaseModel]) -> dict[str, Any]:
    """The `openapi_extra` of a route whose body is of this kind."""
    schema = {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}
    return {"requestBody": {"required": True, "content": {"application/json": schema}}}


def document(app: FastAPI, bodies: Sequence[type[BaseModel]], keyed: bool) -> dict[str, Any]:
    """The app's OpenAPI document with the schemas that `takes` refers to.

    `keyed` says whether the server has keys; one without wants none.
    """
    made = get_openapi(title=app.title, version=app.version, routes=app.routes)
    _, schemas = models_json_schema(
        [(kind, "validation") for kind in bodies], ref_template="#/components/schemas/{model}"
    )
    made["components"]["schemas"].update(schemas["$defs"])
    for path in made["paths"].values():
        for route in path.values():
            route["responses"].pop("422", None)  # what FastAPI promises of its own, never sent
            if not keyed:
                route.pop("security", None)
                route["responses"].pop("401", None)
    return made
