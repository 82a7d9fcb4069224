"""Routes of operators for other programs: answers, samples with predictions, the log, and the model, each as a file."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from sqlalchemy import Engine

from evolabel._utils.export_columns import ANSWER_COLUMNS
from evolabel._utils.table_lines import csv_lines, json_lines
from evolabel.active import ActiveLearner
from evolabel.classifier.storage import classifier_bytes
from evolabel.server.http.access import access_of, now_us
from evolabel.server.http.problems import ProblemError
from evolabel.server.people.audit import write_audit
from evolabel.server.project.exports import answered_labels, log_rows, sample_rows

router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["exports"])
_LINES, _BYTES = "application/x-ndjson", "application/octet-stream"
_FILES: dict[str, tuple[str, Callable[[Engine, int], Iterator[str]]]] = {
    "answers.csv": ("text/csv", lambda engine, number: csv_lines(ANSWER_COLUMNS, answered_labels(engine, number))),
    "answers.ndjson": (_LINES, lambda engine, number: json_lines(answered_labels(engine, number))),
    "samples.ndjson": (_LINES, lambda engine, number: json_lines(sample_rows(engine, number))),
    "log.ndjson": (_LINES, lambda engine, number: json_lines(log_rows(engine, number))),
}
_MODELS: dict[str, Callable[[ActiveLearner], bytes]] = {
    "model.safetensors": ActiveLearner.to_bytes,
    "classifier.safetensors": lambda learner: classifier_bytes(learner.classifier),
}


_KINDS: dict[str, Any] = {kind: {} for kind in (_LINES, "text/csv", _BYTES)}


@router.get("/export/{name}", response_model=None, responses={200: {"content": _KINDS}})
async def get_export(slug: str, name: str, request: Request) -> Response:
    """Return a file: answers.csv, answers.ndjson, samples.ndjson, log.ndjson, model or classifier.safetensors.

    The audit table says who has fetched which file. model.safetensors holds all that answers:
    `ActiveLearner.load("model.safetensors").predict_proba([x])` returns the probabilities that the service gives for
    the next sample, bit for bit. classifier.safetensors, for `EvolvingFuzzyClassifier.load`, lacks what the service
    adds: the correction by the errors of the last answers.
    """
    access = access_of(request)
    worker, identity = access.enter(request, slug)
    if name not in _FILES and name not in _MODELS:
        known = ", ".join((*_FILES, *_MODELS))
        raise ProblemError(404, "not-found", f"there is no file {name!r}; the files are {known}")

    def audit() -> None:
        address = request.client.host if request.client else None
        with access.service.pen.transaction() as connection:
            write_audit(
                connection, now_us(), "export", slug, actor_id=identity.person_id, address=address,
                request_id=request.state.request_id, file=name,
            )  # fmt: skip

    await asyncio.to_thread(audit)
    headers = {"Content-Disposition": f'attachment; filename="{slug}-{name}"'}
    if write := _MODELS.get(name):
        worker.view.forget()  # the file is that of now, not of a copy that may be a second old
        read: Any = worker.view.read(lambda copy: write(copy.learner()))
        return Response(await asyncio.wrap_future(read), headers=headers, media_type=_BYTES)
    media, lines = _FILES[name]
    text = lines(access.service.reader, worker.project.id)
    return StreamingResponse(text, headers=headers, media_type=media)
