"""GET /v1/models: the one model there is."""

from typing import Any

from fastapi import APIRouter

from foredraft.server.service import Service, Serving

router = APIRouter()


@router.get("/v1/models")
async def models(service: Serving) -> dict[str, Any]:
    """The model, under each name it answers to."""
    return {"object": "list", "data": [_model(service, name) for name in service.settings.names]}


@router.get("/v1/models/{name:path}")
async def model(name: str, service: Serving) -> dict[str, Any]:
    """The model under one name."""
    service.check_model(name)
    return _model(service, name)


def _model(service: Service, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        "created": int(service.started),
        "owned_by": "foredraft",
    }
