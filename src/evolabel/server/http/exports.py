"""Routes of files to take away: answers, samples, the log, rules, the model; pages offer the same files."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse, Response, StreamingResponse
from sqlalchemy import Engine
from starlette.background import BackgroundTask

from evolabel._utils.table_lines import (
    ANSWER_COLUMNS,
    csv_lines,
    flat_sample,
    json_lines,
    sample_columns,
    write_parquet,
)
from evolabel.active import ActiveLearner
from evolabel.classifier.storage import classifier_bytes
from evolabel.server.http.access import Access, Actor, AppAccess, Entered
from evolabel.server.http.problems import ProblemError
from evolabel.server.log.writer import reading
from evolabel.server.people.audit import Sender, write_audit
from evolabel.server.project.exports import answered_labels, log_rows, project_columns, sample_rows
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["exports"])
_MEDIA = {
    ".csv": "text/csv", ".ndjson": "application/x-ndjson", ".parquet": "application/octet-stream",
    ".txt": "text/plain; charset=utf-8", ".safetensors": "application/octet-stream",
}  # fmt: skip
EXPORTS = (
    "answers.csv", "answers.ndjson", "answers.parquet", "samples.csv", "samples.ndjson", "samples.parquet",
    "log.ndjson", "rules.txt", "model.safetensors", "classifier.safetensors",
)  # fmt: skip
"""Names of the files."""

Rows = Iterator[dict[str, Any]]


def _rules(learner: ActiveLearner) -> bytes:
    return f"{learner.classifier.rules_}\n".encode()


_OF_MODEL: dict[str, Callable[[ActiveLearner], bytes]] = {
    "rules.txt": _rules,
    "model.safetensors": ActiveLearner.to_bytes,
    "classifier.safetensors": lambda learner: classifier_bytes(learner.classifier),
}
_ROWS: dict[str, Callable[[Engine, int], Rows]] = {
    "answers": answered_labels, "samples": sample_rows, "log": log_rows,
}  # fmt: skip
_KINDS: dict[str, Any] = {kind: {} for kind in dict.fromkeys(_MEDIA.values())}


@router.get("/export/{name}", response_model=None, responses={200: {"content": _KINDS}})
async def get_export(worker: Entered, sender: Actor, access: AppAccess, name: str) -> Response:
    """Return a file: answers or samples as .csv, .ndjson or .parquet, log.ndjson, rules.txt, or a model.

    The audit table has who has fetched which file. model.safetensors holds all that answers:
    `ActiveLearner.load("model.safetensors").predict_proba([x])` returns the probabilities that the service gives for
    the next sample, bit for bit. classifier.safetensors, for `EvolvingFuzzyClassifier.load`, lacks what the service
    adds: the correction by the errors of the last answers.
    """
    return await export_response(access, worker, sender, name)


async def export_response(access: Access, worker: Worker, sender: Sender, name: str) -> Response:
    """Return the file `name` of the project of `worker` for `sender`, whom `access` writes to the audit table."""
    if name not in EXPORTS:
        raise ProblemError(404, "not-found", f"there is no file {name!r}; the files are {', '.join(EXPORTS)}")
    slug, media = worker.project.slug, _MEDIA[Path(name).suffix]
    await access.write(lambda c: write_audit(c, "export", slug, sender, file=name))
    headers = {"Content-Disposition": f'attachment; filename="{slug}-{name}"'}
    if write := _OF_MODEL.get(name):
        worker.view.forget()  # the file is that of now, not of a copy that may be a second old
        read: Any = worker.view.read(lambda copy: write(copy.state.learner))
        return Response(await asyncio.wrap_future(read), headers=headers, media_type=media)
    columns, rows = await asyncio.to_thread(_table, access.service.reader, worker.project.id, name)
    if name.endswith(".parquet"):
        folder = Path(tempfile.mkdtemp(prefix="evolabel-"))
        after = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
        try:
            await asyncio.to_thread(write_parquet, columns, rows, folder / name)
        except BaseException:
            await after()
            raise
        return FileResponse(folder / name, headers=headers, media_type=media, background=after)
    lines = csv_lines(columns, rows) if name.endswith(".csv") else json_lines(rows)
    return StreamingResponse(lines, headers=headers, media_type=media)


def _table(engine: Engine, project_id: int, name: str) -> tuple[Mapping[str, type], Iterable[dict[str, Any]]]:
    """Return the columns and the rows of the file `name` of project `project_id`, read by `engine`."""
    what, _, suffix = name.partition(".")
    rows = _ROWS[what](engine, project_id)
    if what != "samples" or suffix == "ndjson":
        return ANSWER_COLUMNS, rows
    with reading(engine) as connection:
        columns = sample_columns(*project_columns(connection, project_id))
    return columns, map(flat_sample, rows)
