"""Routes without a token: whether the service runs, whether it is ready, and its metrics."""

import asyncio
import ipaddress
import math
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import select

from evolabel import __version__
from evolabel.server.http.access import access_of
from evolabel.server.log import disk
from evolabel.server.log.schema import SNAPSHOT
from evolabel.server.log.times import DAY, SECOND, now_us
from evolabel.server.people.policies import HiddenError
from evolabel.server.project.service import Service
from evolabel.server.project.statistics import learned_since
from evolabel.server.project.worker import Worker

router = APIRouter(tags=["health"])
_RIGHT_SINCE = 7 * DAY


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
    return Response(await asyncio.to_thread(metrics_text, service, streams), media_type=CONTENT_TYPE_LATEST)


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


def metrics_text(service: Service, streams: int) -> bytes:
    """Return the metrics of `service` as text, those of the present state as they are now; `streams` are open."""
    metrics, now = service.metrics, now_us()
    with metrics.reading, service.reader.connect() as connection:
        metrics.info.labels(__version__).set(1)
        metrics.writer.set(service.is_writer)
        free = disk.free_bytes(service.url)
        metrics.disk.set(math.nan if free is None else free)
        metrics.streams.set(streams)
        for gauge in (*metrics.present.values(), metrics.right):
            gauge.clear()
        for slug, worker in dict(service.workers).items():
            project = worker.project.id
            last = select(SNAPSHOT.c.seq, SNAPSHOT.c.at).where(SNAPSHOT.c.project_id == project)
            row = connection.execute(last.order_by(SNAPSHOT.c.seq.desc()).limit(1)).first()
            found = {**_present(worker, now), "snapshot_behind_records": worker.head.seq - (row.seq if row else 0)}
            if row is not None:
                found["snapshot_age_seconds"] = max(now - row.at, 0) / SECOND
            for name, value in found.items():
                metrics.present[name].labels(slug).set(value)
            for label, (n, correct) in learned_since(connection, project, now - _RIGHT_SINCE).items():
                metrics.right.labels(slug, label).set(correct / n)
        return generate_latest(metrics.registry)


def _present(worker: Worker, now: int) -> dict[str, float]:
    """Return the present values of the project of `worker` at time `now`, by the name of the metric."""
    found = {"log_seq": float(worker.head.seq), "queue_jobs": float(worker.waiting)}
    state = worker.state
    if state is None:
        return found
    asked = [question.at for question in list(state.open.values())]
    return found | {
        "questions_open": float(len(asked)),
        "question_age_seconds": max(now - min(asked, default=now), 0) / SECOND,
        "budget_asked_ratio": float(state.learner.bucket.share),
        "budget_limit_ratio": float(state.settings.budget),
        "rules": float(state.learner.classifier.n_rules_),
    }
