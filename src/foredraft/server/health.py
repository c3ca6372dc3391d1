"""GET /health and /metrics: for what watches over the server."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from foredraft.server.replies import Health
from foredraft.server.service import Serving

open_router = APIRouter()
router = APIRouter()

_PAGE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}}
}


@open_router.get("/health", responses={503: {"model": Health, "description": "It drains."}})
async def health(response: Response, service: Serving) -> Health:
    """ok, or draining with status 503: no more requests are taken, those that run finish."""
    if service.draining.is_set():
        response.status_code = 503
        return Health(status="draining")
    return Health(status="ok")


@router.get("/metrics", response_class=Response, responses=_PAGE)
async def metrics(service: Serving) -> Response:
    """Counters in Prometheus' text format."""
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)
