"""GET /foredraft/status: what the server is and what it has done lately."""

import time
from typing import Any

from fastapi import APIRouter

from foredraft.server.service import Serving

_MOST_ROWS = 16

router = APIRouter()


@router.get("/foredraft/status")
async def status(service: Serving) -> dict[str, Any]:
    """The model, its load, its costs, and the last minute."""
    scheduler, recent = service.scheduler, service.recent
    target, load = scheduler.target, scheduler.load
    plain = scheduler.plain_s(1)
    return {
        "model": service.name,
        "engine": target.engine,
        "drafters": [drafter.name for drafter in scheduler.drafters],
        "context": target.context,
        "running": load.running,
        "waiting": load.waiting,
        "cached_tokens": load.cached_tokens,
        "uptime_s": time.time() - service.started,
        "recent": recent.summary(),
        "last": recent.last(),
        "verify_curve": scheduler.curve(_MOST_ROWS),
        "plain_step_s": plain,
        "cost_ratio": {name: seconds / plain for name, seconds in recent.draft_s().items()},
    }
