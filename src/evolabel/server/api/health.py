"""Routes without a token: whether the service lives and whether it is ready."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from evolabel.server.api.access import access_of

router = APIRouter(tags=["health"])


@router.get("/livez")
async def livez() -> dict[str, Any]:
    """Answer while the event loop runs."""
    return {"status": "alive"}


@router.get("/readyz", response_model=None)
async def readyz(request: Request) -> JSONResponse:
    """Answer 200 when every project takes requests, else 503 with the reasons."""
    service = access_of(request).service
    waiting = [slug for slug, worker in list(service.workers.items()) if not worker.is_ready]
    reasons = [] if service.is_writer else ["standby: another server writes, or the database cannot be reached"]
    reasons += [f"project {slug}: the model is being read from the log" for slug in waiting]
    reasons += [f"project {slug}: {why}" for slug, why in service.broken.items()]
    content = {"status": "not ready" if reasons else "ready", "reasons": reasons}
    return JSONResponse(content, 503 if reasons else 200)
