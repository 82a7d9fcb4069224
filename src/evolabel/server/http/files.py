"""Routes of a person's own file: sent, judged, made a project of; and how far its rows were sent."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.requests import ClientDisconnect

from evolabel.errors import ParameterError
from evolabel.server.http.access import Access, AppAccess, Entered, Entrant, Sent
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.schemas import FileProjectIn
from evolabel.server.log import uploads
from evolabel.server.log.times import now_us
from evolabel.server.project.file_stream import FileStatus, file_status
from evolabel.server.project.own_project import Choices, judged_file, new_own_project
from evolabel.server.project.settings import Label, ProjectSettings
from evolabel.server.project.worker import Worker
from evolabel.streams.files.own_file import OWN_SUFFIXES, OwnFile

files_router = APIRouter(prefix="/api/v1/files", tags=["files"])
_BODY = {"requestBody": {"content": {"application/octet-stream": {}}, "required": True}}
FileName = Annotated[str, Query(min_length=1, max_length=200, description="name of the file, with its ending")]


@files_router.post("", status_code=201, openapi_extra=_BODY)
async def post_file(identity: Entrant, access: AppAccess, request: Request, name: FileName) -> dict[str, Any]:
    """Keep a file of rows for a day, whole or not at all; return its key, and what its columns are.

    `name` ends in .csv, .tsv, .jsonl, .xlsx or .parquet. A file that cannot be read is refused with the place.
    """
    async with upload_folder(name) as path:
        await _receive(request, path, access.service.limits.file)
        key, own = await keep_file(access, identity.person_id, path)
    columns = [{**column._asdict(), "examples": list(column.examples)} for column in own.columns]
    return {"file": key, "name": name, "rows": len(own.table.rows), "columns": columns}


@files_router.post("/{file}/project", status_code=201)
async def post_file_project(
    identity: Entrant, access: AppAccess, request: Request, file: str, body: FileProjectIn
) -> dict[str, Any]:
    """Make a project of a file, whose rows are sent as samples from now on; return its short name and its title.

    `columns` are the uses of columns by name; those that are not named are left out.
    """
    settings = ProjectSettings.read(body.settings, request.app.state.project_defaults)
    labels = [Label(**item.model_dump()) for item in body.labels]
    choices = Choices(body.slug, body.title or body.slug, dict(body.columns), labels, settings, body.waits)
    async with kept_file(access, identity.person_id, file) as own:
        await make_project(access, identity.person_id, file, own, choices)
    return {"slug": choices.slug, "title": choices.title}


router = APIRouter(prefix="/api/v1/projects/{slug}/file", tags=["files"])


@router.get("")
async def get_file(worker: Entered, access: AppAccess) -> dict[str, Any]:
    """Return how many rows of the file of the project were sent, and whether it is running, stopped or ended."""
    return (await status_of(access, worker))._asdict()


@router.post("/stop")
async def post_stop(worker: Entered, origin: Sent, access: AppAccess) -> dict[str, Any]:
    """Send no further rows of the file until it is continued."""
    await asyncio.to_thread(access.service.files.pause, worker, origin)
    return (await status_of(access, worker))._asdict()


@router.post("/continue")
async def post_continue(worker: Entered, origin: Sent, access: AppAccess) -> dict[str, Any]:
    """Go on with the file behind the last row that was sent."""
    await asyncio.to_thread(access.service.files.go_on, worker, origin)
    return (await status_of(access, worker))._asdict()


async def status_of(access: Access, worker: Worker) -> FileStatus:
    """Return how far the file of the project of `worker` was sent, read by `access`; a problem if it has none."""
    found = await access.read(lambda c: file_status(c, worker.project.id))
    if found is None:
        raise ProblemError(404, "no-file", "the project was not made of a file; send samples")
    return found


async def make_project(access: Access, person_id: int, key: str, own: OwnFile, choices: Choices) -> None:
    """Make a project of the file `key`, judged as `own`, by these `choices` of person `person_id`; forget the file."""
    new = await asyncio.to_thread(new_own_project, own, choices)
    await asyncio.to_thread(access.service.create_project, new, person_id)
    await access.write(lambda c: uploads.delete_upload(c, key))


@asynccontextmanager
async def upload_folder(name: str) -> AsyncIterator[Path]:
    """Yield the path of a file `name` in a folder that is removed afterwards; ParameterError for other names."""
    plain = Path(name.replace("\\", "/")).name
    if not plain.isprintable() or Path(plain).suffix.lower() not in OWN_SUFFIXES or len(plain.encode()) > 200:
        raise ParameterError(f"{plain[:50]!r} has no ending of a table; save it as {', '.join(OWN_SUFFIXES)}")
    with tempfile.TemporaryDirectory(prefix="evolabel-") as folder:
        yield Path(folder, plain)


async def keep_file(access: Access, person_id: int, path: Path) -> tuple[str, OwnFile]:
    """Judge the file `path` and keep it for person `person_id`; return its key and what its columns are."""
    own = await asyncio.to_thread(judged_file, path, access.service.limits.file)
    key = await access.write(lambda c: uploads.store_upload(c, person_id, path, now_us()))
    return key, own


@asynccontextmanager
async def kept_file(access: Access, person_id: int, key: str) -> AsyncIterator[OwnFile]:
    """Yield the file `key` of person `person_id`, judged again; ProblemError if there is none."""
    name = await access.read(lambda c: uploads.upload_name(c, person_id, key, now_us()))
    if name is None:
        raise ProblemError(404, "not-found", "the file is not kept any more; send it again")
    async with upload_folder(name) as path:
        await access.read(lambda c: uploads.write_upload(c, key, path))
        yield await asyncio.to_thread(judged_file, path, access.service.limits.file)


async def _receive(request: Request, path: Path, most: int) -> None:
    """Write the body of `request` to `path`; ProblemError if it has more than `most` bytes, or is cut off."""
    size = 0
    try:
        with path.open("wb") as file:
            async for data in request.stream():
                size += len(data)
                if size > most:
                    raise too_large(most)
                file.write(data)
    except ClientDisconnect:
        raise cut_off() from None


def too_large(most: int) -> ProblemError:
    """Return the refusal of a file of more than `most` bytes."""
    detail = f"a file may have {most / 2**20:,.0f} MiB; split it, or send its rows by `evolabel replay`"
    return ProblemError(413, "too-large", detail)


def cut_off() -> ProblemError:
    """Return the refusal of a file whose end has not come."""
    return ProblemError(400, "cut-off", "the file was cut off on its way; nothing is kept of it, send it again")
