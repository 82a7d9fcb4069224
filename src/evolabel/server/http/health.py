"""Routes without a token: whether the service lives and whether it is ready."""

import asyncio
import ipaddress
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from evolabel.server.http.access import access_of
from evolabel.server.log import disk
from evolabel.server.ops.metrics import CONTENT_TYPE, metrics_text
from evolabel.server.people.policies import HiddenError

router = APIRouter(tags=["health"])


@router.get("/livez")
async def livez() -> dict[str, Any]:
    """Answer while the event loop runs."""
    return {"status": "alive"}


@router.get("/metrics", response_model=None)
async def get_metrics(request: Request) -> Response:
    """Return the metrics in the text format of Prometheus; only to addresses of the configuration."""
    if not _is_in_list(request):
        raise HiddenError("there is no such page for this address; add it to metrics.addresses of the configuration")
    service, streams = access_of(request).service, request.app.state.streams.n_open
    return Response(await asyncio.to_thread(metrics_text, service, streams), media_type=CONTENT_TYPE)


def _is_in_list(request: Request) -> bool:
    """Return whether `request` comes from an address that may read the metrics."""
    try:
        address = ipaddress.ip_address(request.client.host if request.client else "")
    except ValueError:
        return False
    return any(address in network for network in request.app.state.metrics_for)


@router.get("/readyz", response_model=None, responses={503: {"content": {"application/json": {}}}})
async def readyz(request: Request) -> JSONResponse:
    """Answer 200 when every project takes requests and the disk has room for answers, else 503 with the reasons.

    `projects` has those that are not ready, and why.
    """
    service = access_of(request).service
    projects = {
        slug: worker.refusal or "the model is being read from the log"
        for slug, worker in list(service.workers.items())
        if not worker.is_ready
    }
    reasons = [] if service.is_writer else ["standby: another server writes, or the database cannot be reached"]
    reasons += [f"project {slug}: {why}" for slug, why in projects.items()]
    if lacking := disk.lacking_room("answer", disk.Room(disk.free_bytes(service.url), service.limits.min_free)):
        reasons.append(f"disk: {lacking}; make room")
    content = {"status": "not ready" if reasons else "ready", "reasons": reasons, "projects": projects}
    return JSONResponse(content, 503 if reasons else 200)
