"""The HTTP application: its endpoints, and what stands before them."""

from functools import cache, partial

from fastapi import APIRouter, Depends, FastAPI
from starlette.middleware.cors import CORSMiddleware

from foredraft import __version__
from foredraft.server import (
    chat,
    completions,
    errors,
    health,
    models,
    page,
    replay,
    status,
    tokens,
)
from foredraft.server.guard import LocalHosts, check_key
from foredraft.server.openapi import GUARDED, document, refusals
from foredraft.server.replay import ReplayBody
from foredraft.server.schema import ChatBody, CompletionBody
from foredraft.server.service import Service
from foredraft.server.tokens import DetokenizeBody, TokenizeBody

BODIES = (ChatBody, CompletionBody, ReplayBody, TokenizeBody, DetokenizeBody)


def create_app(service: Service) -> FastAPI:
    """An application that serves `service`. Its scheduler is the caller's to close."""
    app = FastAPI(
        title="foredraft",
        version=__version__,
        docs_url=None,  # FastAPI's pages of documentation load scripts from elsewhere
        redoc_url=None,
    )
    app.state.service = service
    guarded = APIRouter(dependencies=[Depends(check_key)], responses=refusals(*GUARDED))
    for room in (chat, completions, models, tokens, status, replay, health):
        guarded.include_router(room.router)
    app.include_router(guarded)
    app.include_router(health.open_router, responses=refusals(403))
    page.mount(app)
    errors.install(app)
    described = partial(document, app, BODIES, bool(service.settings.keys))
    app.openapi = cache(described)  # type: ignore[method-assign]
    if not service.settings.keys:
        app.add_middleware(LocalHosts)
    if service.settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=service.settings.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
        )
    return app
