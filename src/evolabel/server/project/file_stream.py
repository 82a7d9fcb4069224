"""`FileStreams`: the rows of files that projects were made of, sent one after the other as samples.

Which rows were sent is read from the log: they are sent in order, a few with one key at a time, and the key is that of
the first. So a file that was stopped, or whose server was killed, goes on behind its last row, and no row counts twice.
"""

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine

from evolabel.errors import EvolabelError
from evolabel.server.log.records import Record, find_key, find_kinds, last_of_kinds, read_blob
from evolabel.server.log.writer import reading
from evolabel.server.project import operations
from evolabel.server.project.batch import Origin, RecordBatch
from evolabel.server.project.file_rows import place_in_parts, unpacked
from evolabel.server.project.jobs import BusyError
from evolabel.server.project.operations import ConflictError
from evolabel.server.project.worker import Worker

STOPPED, CONTINUED, ENDED = "file.stopped", "file.continued", "file.ended"
_KINDS = (STOPPED, CONTINUED, ENDED)
_ROWS = 20  # sent together: few, so that at most so many questions come at once
_LOOK_SECONDS = 0.25  # between two looks at the questions that wait
_AGAIN_SECONDS = 1.0  # after a refusal that passes

logger = logging.getLogger("evolabel.server")


class FileStatus(NamedTuple):
    """How far the file `name` was sent: `done` of its `rows`.

    `state` is running, stopped or ended; `error` is why it was stopped, if no person did so. `waits` and `id_column`
    as in `FileRows`.
    """

    name: str
    rows: int
    done: int
    state: str
    error: str
    waits: bool
    id_column: str


class _Stream(NamedTuple):
    """The stored file of a project, its status, and the person who has made the project."""

    status: FileStatus
    parts: list[str]
    actor_id: int | None


def file_status(connection: Connection, project_id: int) -> FileStatus | None:
    """Return how far the file of project `project_id` was sent, read through `connection`; None if it has none."""
    found = _find(connection, project_id)
    return None if found is None else found.status


def _find(connection: Connection, project_id: int) -> _Stream | None:
    created = find_kinds(connection, project_id, ("project.created",))[:1]
    facts = (created[0].entry.payload or {}).get("file") if created else None
    if facts is None:
        return None
    last = last_of_kinds(connection, project_id, _KINDS)
    state = _state_after(last)
    error = "" if last is None else (last.entry.payload or {}).get("error", "")
    done = facts["rows"] if state == "ended" else _rows_sent(connection, project_id, facts["rows"])
    status = FileStatus(facts["name"], facts["rows"], done, state, error, facts["waits"], facts["id_column"])
    return _Stream(status, facts["parts"], created[0].entry.actor_id)


def _rows_sent(connection: Connection, project_id: int, rows: int) -> int:
    """Return how many of the `rows` of a file were sent; they come in order, so each step halves those in doubt."""
    low, high = 0, -(-rows // _ROWS)
    while low < high:
        middle = (low + high) // 2
        if find_key(connection, project_id, _key(middle * _ROWS)):
            low = middle + 1
        else:
            high = middle
    return min(low * _ROWS, rows)


def _key(row: int) -> str:
    """Return the idempotency key of the rows from `row` on; those of requests begin otherwise."""
    return f"file:{row}"


class FileStreams:
    """Sends the files of projects, whose parts `reader` reads, in a thread each."""

    def __init__(self, reader: Engine) -> None:
        self._reader = reader
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}
        self.slugs = set[str]()
        """Projects with a file that was not sent to its end when the service began with them."""

    def begin(self, worker: Worker) -> None:
        """Go on with the file of the project of `worker`, if it has one that is neither stopped nor ended."""
        with reading(self._reader) as connection:
            found = _find(connection, worker.project.id)
        if found is None or found.status.state == "ended":
            return
        slug = worker.project.slug
        self.slugs.add(slug)
        if found.status.state != "running":
            return
        with self._lock:
            before = self._threads.get(slug)
            if self._stopped.is_set() or (before is not None and before.is_alive()):
                return
            thread = threading.Thread(target=self._run, args=(worker, found), name=f"file-{slug}", daemon=True)
            self._threads[slug] = thread
            thread.start()

    def stop(self, seconds: float) -> None:
        """Send no further rows; wait so many `seconds` for those on their way."""
        self._stopped.set()
        for thread in list(self._threads.values()):
            thread.join(seconds)

    def pause(self, worker: Worker, origin: Origin) -> None:
        """Stop the file of the project of `worker` for `origin`; once it is stopped nothing changes."""
        self._record(worker, STOPPED, origin)

    def go_on(self, worker: Worker, origin: Origin) -> None:
        """Go on with the file of the project of `worker` for `origin`; while it runs nothing changes."""
        self._record(worker, CONTINUED, origin)
        self.begin(worker)

    def _record(self, worker: Worker, kind: str, origin: Origin) -> None:
        """Record that the file of `worker` is stopped or goes on; ConflictError if there is none, or it has ended."""
        with reading(self._reader) as connection:
            if file_status(connection, worker.project.id) is None:
                raise ConflictError("no-file", "the project was not made of a file; send samples")

        def operation(batch: RecordBatch) -> None:
            state = _state_in(batch)
            if state == "ended":
                raise ConflictError("file-ended", "all rows of the file were sent; send further samples")
            if (state == "stopped") != (kind == STOPPED):
                batch.record(kind, {}, origin)

        worker.call(operation)
        if (thread := self._threads.get(worker.project.slug)) is not None:
            thread.join(_AGAIN_SECONDS)  # it stands still, or goes on by itself

    def _run(self, worker: Worker, stream: _Stream) -> None:
        """Send the rows of `stream` that were not sent yet; keep in the log why it stops, unless the service does."""
        status, origin = stream.status, Origin(stream.actor_id)
        try:
            part = (-1, list[dict[str, Any]]())
            for row in range(status.done, status.rows, _ROWS):
                number, place = place_in_parts(row)
                if part[0] != number:
                    part = (number, self._part(worker, stream.parts[number]))
                samples = part[1][place : place + _ROWS]
                if not self._until_sent(lambda: self._send(worker, samples, _key(row), stream)):  # noqa: B023
                    return
            self._until_sent(lambda: _end(worker, status.rows, origin))
        except Exception as error:
            cause = str(error) if isinstance(error, EvolabelError) else f"{type(error).__name__}: {error}"
            logger.error("the file of %s is stopped: %s", worker.project.slug, cause)
            with contextlib.suppress(EvolabelError):  # the service stops, or the database is gone
                worker.call(lambda batch: batch.record(STOPPED, {"error": cause}, origin))

    def _part(self, worker: Worker, name: str) -> list[dict[str, Any]]:
        with reading(self._reader) as connection:
            data = read_blob(connection, worker.project.id, name)
        if data is None:
            raise ConflictError("no-file", "a stored part of the file is missing or altered; restore a backup")
        return unpacked(data)

    def _until_sent(self, act: Callable[[], bool | None]) -> bool:
        """Return whether `act` was done, and the stream goes on; it is tried again while it returns None or is refused.

        False if it returns False, or the service stops.
        """
        while not self._stopped.is_set():
            wait = _LOOK_SECONDS
            try:
                if (done := act()) is not None:
                    return done
            except BusyError:
                wait = _AGAIN_SECONDS
            self._stopped.wait(wait)
        return False

    def _send(self, worker: Worker, samples: list[dict[str, Any]], key: str, stream: _Stream) -> bool | None:
        """Return True after `samples` were sent with this `key`, False if the file is stopped, None to try it later."""
        origin, waits = Origin(stream.actor_id, key), stream.status.waits

        def operation(batch: RecordBatch) -> bool | None:
            if _state_in(batch) != "running":
                return False
            state = batch.state
            room = state.settings.max_open - sum(not question.responses for question in state.open.values())
            if waits and state.open and room < min(_ROWS, state.settings.max_open):
                return None
            _send_rows(batch, samples, origin)
            return True

        answer: bool | None = worker.submit(operation, len(samples)).result()
        return answer


def _send_rows(batch: RecordBatch, samples: list[dict[str, Any]], origin: Origin) -> None:
    """Count `samples` in the `batch`; of one with some labels alone, the others can be asked about."""
    state, all_known = batch.state, set(batch.state.asked_names)
    parts = [sample.get("y") if set(sample.get("y") or ()) < all_known else None for sample in samples]
    if state.settings.one_of:  # one that is known gives all others
        parts = [None if part and 1 in part.values() else part for part in parts]
    sent = [
        sample if part is None else {name: value for name, value in sample.items() if name != "y"}
        for sample, part in zip(samples, parts, strict=True)
    ]
    results = operations.send_samples(batch, sent, origin)["results"]
    for part, result in zip(parts, results, strict=True):
        asked = (result["question"] or {}).get("labels", [])
        if part and set(asked) <= set(part):
            operations.late_labels(batch, result["number"], part, Origin(origin.actor_id))


def _state_in(batch: RecordBatch) -> str:
    """Return the state of the file of the project in the `batch`."""
    return _state_after(next(iter(batch.of_kinds(_KINDS)[-1:]), None))


def _state_after(last: Record | None) -> str:
    """Return the state of a file by the `last` record about it."""
    return "running" if last is None or last.entry.kind == CONTINUED else last.entry.kind.partition(".")[2]


def _end(worker: Worker, rows: int, origin: Origin) -> bool:
    worker.call(lambda batch: batch.record(ENDED, {"rows": rows}, origin))
    return True
