"""What a browser finds at the root."""

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse


def mount(app: FastAPI) -> None:
    """Serve `/`."""

    @app.get("/", include_in_schema=False)
    async def index() -> PlainTextResponse:
        return PlainTextResponse("foredraft: OpenAI's API is at /v1, its schema /openapi.json.\n")
