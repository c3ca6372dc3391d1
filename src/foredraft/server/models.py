"""GET /v1/models: the one model there is."""

from fastapi import APIRouter

from foredraft.server.openapi import refusals
from foredraft.server.replies import Model, Models
from foredraft.server.service import Service, Serving

router = APIRouter()


@router.get("/v1/models")
async def models(service: Serving) -> Models:
    """The model, under each name it answers to."""
    return Models(data=[_model(service, name) for name in service.settings.names])


@router.get("/v1/models/{name:path}", responses=refusals(404))
async def model(name: str, service: Serving) -> Model:
    """The model under one name."""
    service.check_model(name)
    return _model(service, name)


def _model(service: Service, name: str) -> Model:
    return Model(id=name, created=int(service.started))
