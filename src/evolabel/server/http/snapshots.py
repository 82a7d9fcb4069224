"""Routes of operators for the stored states of a project."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request

from evolabel.server.http.access import access_of, carry_out
from evolabel.server.http.schemas import EmptyIn
from evolabel.server.log.snapshots import list_snapshots
from evolabel.server.log.times import readable_times
from evolabel.server.project.desk import Desk

router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["snapshots"])


@router.get("/snapshots")
async def get_snapshots(slug: str, request: Request) -> dict[str, Any]:
    """Return the stored states, newest first: the record, the time, why it was stored, its checksum and its bytes."""
    worker, _ = access_of(request).enter(request, slug)

    def find() -> list[dict[str, Any]]:
        with worker.reading() as connection:
            return list_snapshots(connection, worker.project.id)

    return {"snapshots": [readable_times(row) for row in await asyncio.to_thread(find)]}


@router.post("/snapshots", status_code=202)
async def post_snapshot(slug: str, body: EmptyIn, request: Request) -> dict[str, int]:
    """Store the state after the last record; it is in the list within a second, unless it was stored before."""
    worker, _ = access_of(request).enter(request, slug)

    def verb(desk: Desk) -> int:
        desk.snapshot = True
        return desk.seq

    return {"seq": await carry_out(worker, verb)}
