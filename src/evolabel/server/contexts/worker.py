"""`Worker`: the one thread that changes a project. It takes all waiting jobs, applies them, and commits them together.

While one batch is written to the disk, the next jobs gather, so there is no timer. No result is sent before it is
committed. If a commit fails or a job breaks the state, the state is made again from the log.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

from sqlalchemy import Engine

from evolabel.errors import EvolabelError
from evolabel.server.contexts.desk import Desk, TornError
from evolabel.server.contexts.leases import Leases
from evolabel.server.contexts.questions import next_change
from evolabel.server.contexts.replay import restore, take_snapshot, versions
from evolabel.server.contexts.settings import SECOND
from evolabel.server.contexts.state import ProjectState
from evolabel.server.contexts.verbs import close_due
from evolabel.server.crash_points import crash_point
from evolabel.server.store import derive
from evolabel.server.store.log import Head, NewRecord, Record
from evolabel.server.store.pen import NotWriterError, Pen, StoreError
from evolabel.server.store.people import names_of
from evolabel.server.store.projects import Project, next_epoch
from evolabel.server.store.snapshots import insert_snapshot

JOBS_PER_BATCH = 256  # of one batch
ROWS_PER_BATCH = 1000  # of one batch
MOST_WAITING = 2000  # jobs; more are refused
_IDLE_SECONDS = 5.0
_RETRY_SECONDS = 1.0

logger = logging.getLogger("evolabel.server")

Verb = Callable[[Desk], Any]


class BusyError(EvolabelError, RuntimeError):
    """The request was not carried out and can be sent again; `type` names the reason."""

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type


class CannotApplyError(EvolabelError, RuntimeError):
    """The learner has failed twice on this request; sending it again does not help."""


class Job(NamedTuple):
    """A verb to run, the rows it brings, the hash of its body, and where its result goes."""

    verb: Verb
    rows: int
    body_hash: bytes | None
    result: "Future[Any]"


class Worker:
    """Owns the state of one project.

    Parameters
    ----------
    project : Project
    pen : Pen
        The writing connection, shared by all projects.
    reader : Engine
        Connections that read what was committed.
    clock : function
        Returns the time in microseconds since 1970.
    """

    def __init__(self, project: Project, pen: Pen, reader: Engine, clock: Callable[[], int] | None = None) -> None:
        self.project = project
        self.head: Head = project.head
        self.state: ProjectState | None = None
        self.replayed = 0
        self.failures: dict[bytes, int] = {}
        self.leases = Leases()
        self._pen = pen
        self._reader = reader
        self._clock = clock or _now
        self._last_at = 0
        self._snapshot_seq = 0
        self._names: dict[int, str] = {}
        self._jobs: deque[Job] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=f"worker-{project.slug}", daemon=True)

    # ------------------------------------------------------------------ from other threads

    def start(self) -> None:
        """Make the state from the log, and begin to take jobs."""
        self._rebuild("start")
        self._thread.start()

    def submit(self, verb: Verb, rows: int = 1, body_hash: bytes | None = None) -> "Future[Any]":
        """Queue `verb`, which brings this many `rows`, and return the future of its result.

        `body_hash` is that of its request.

        BusyError if too many jobs wait or the worker stops.
        """
        job = Job(verb, rows, body_hash, Future())
        with self._wake:
            if self._stopping:
                raise BusyError("stopping", "the service is stopping; send the request again")
            if len(self._jobs) >= MOST_WAITING:
                raise BusyError("busy", f"{MOST_WAITING} requests wait; send the request again in a second")
            self._jobs.append(job)
            self._wake.notify()
        return job.result

    def read_names(self) -> None:
        """Read the names of people, which answers are taught with; called inside a job after a person was added."""
        with self._reader.connect() as connection:
            self._names = names_of(connection)

    @property
    def waiting(self) -> int:
        """Number of jobs that wait."""
        return len(self._jobs)

    @property
    def is_ready(self) -> bool:
        """Whether the state is that of the log and jobs are taken."""
        return self.state is not None and not self._stopping

    def stop(self, timeout: float = 10.0) -> None:
        """Finish the queue within `timeout` seconds, store a snapshot, and end the thread."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join(timeout)

    # ------------------------------------------------------------------ in the thread

    def _run(self) -> None:
        while True:
            jobs = self._take()
            if self.state is None and not self._recover():
                self._refuse(jobs, BusyError("rebuilding", "the model is being read again; try again in a second"))
            else:
                self._serve(jobs)
            with self._wake:
                if self._stopping and not self._jobs:
                    break
        if self.state is not None and self.head.seq > self._snapshot_seq:
            self._snapshot("stop")

    def _take(self) -> list[Job]:
        """Return the waiting jobs, at most one batch of them; empty when a question may be due."""
        with self._wake:
            if not self._jobs and not self._stopping:
                self._wake.wait(self._seconds_until_due())
            jobs, rows = list[Job](), 0
            while (
                self._jobs and len(jobs) < JOBS_PER_BATCH and (not jobs or rows + self._jobs[0].rows <= ROWS_PER_BATCH)
            ):
                jobs.append(self._jobs.popleft())
                rows += jobs[-1].rows
            return jobs

    def _seconds_until_due(self) -> float:
        if self.state is None:
            return _RETRY_SECONDS
        due = next_change(iter(self.state.open.values()), self._last_at, self.state.settings)
        if due is None:
            return _IDLE_SECONDS
        return min(max((due - self._clock()) / SECOND, 0.0), _IDLE_SECONDS)

    def _serve(self, jobs: list[Job]) -> None:
        """Apply `jobs`, commit what they recorded, then give them their results."""
        while True:
            with self._reader.connect() as log:
                desk = self._desk(log)
                try:
                    results = self._apply(desk, jobs)
                    break
                except _BrokenError as broken:
                    job, cause = broken.job, broken.cause
            self._poisoned(job, cause)
            jobs = [other for other in jobs if other is not job]
            if not self._recover():
                self._refuse(jobs, BusyError("rebuilding", "the model is being read again; try again in a second"))
                return
        try:
            self._commit(desk.entries)
        except EvolabelError as error:
            self.state = None
            logger.error("commit failed: %s", error, extra={"project": self.project.slug})
            self._refuse(jobs, BusyError(_type_of(error), f"{error}; the request can be sent again"))
            return
        for job, result in zip(jobs, results, strict=True):
            _settle(job, result)
        self._snapshot_if_due()

    def _desk(self, log: Any) -> Desk:
        if self.state is None:
            raise BusyError("rebuilding", "the model is being read again; try again in a second")
        self._last_at = max(self._clock(), self._last_at)
        return Desk(self.project.id, self.state, self.head.seq, self._last_at, log)

    def _apply(self, desk: Desk, jobs: list[Job]) -> list[Any]:
        """Return the result of each job, an error for one that is refused."""
        close_due(desk, self._names)
        results = list[Any]()
        for job in jobs:
            recorded = len(desk.entries)
            try:
                results.append(self._result(desk, job))
            except TornError as error:
                raise _BrokenError(job, str(error)) from error
            except Exception as error:
                if len(desk.entries) > recorded:
                    raise _BrokenError(job, f"{type(error).__name__}: {error}") from error
                results.append(error)
        close_due(desk, self._names)
        crash_point("after_apply")
        return results

    def _result(self, desk: Desk, job: Job) -> Any:
        """Return what the verb of `job` returns; CannotApplyError if its body has failed twice before."""
        if job.body_hash is not None and self.failures.get(job.body_hash, 0) >= 2:
            raise CannotApplyError("the learner cannot learn from this request; do not send it again")
        return job.verb(desk)

    def _commit(self, entries: list[NewRecord]) -> None:
        """Append `entries` and their derived rows in one transaction."""
        if not entries:
            return
        with self._pen.transaction() as connection:
            head = self._pen.append(connection, self.project.id, self.head, entries)
            records = [Record(self.head.seq + 1 + i, entry, b"") for i, entry in enumerate(entries)]
            derive.write(connection, self.project.id, records)
            crash_point("in_commit")
        crash_point("after_commit")
        self.head = head

    def _recover(self) -> bool:
        """Make the state again from the log; return whether that succeeded."""
        try:
            self._rebuild("recovery")
        except (EvolabelError, OSError) as error:
            self.state = None
            logger.error("rebuild failed: %s", error, extra={"project": self.project.slug})
            time.sleep(_RETRY_SECONDS)
            return False
        return True

    def _rebuild(self, cause: str) -> None:
        """Become the writer, begin a new epoch, and make the state from the log; `cause` goes into the record."""
        self.state = None
        if not self._pen.acquire():
            raise NotWriterError("another process writes to this database; stop it, or wait until it ends")
        with self._pen.transaction() as connection:
            self.head = next_epoch(connection, self.project)
        with self._reader.connect() as connection:
            restored = restore(connection, self.project.id, self.head.epoch)
        self.read_names()
        self.head, self._snapshot_seq, self.replayed = restored.head, restored.snapshot_seq, restored.replayed
        self._last_at = max(self._clock(), self._last_at)
        payload = {"epoch": self.head.epoch, "versions": versions(), "cause": cause, "replayed": restored.replayed}
        self._commit([NewRecord("epoch.started", payload, {}, self._last_at)])
        self.state = restored.state

    def _poisoned(self, job: Job, cause: str) -> None:
        """Refuse a job that has broken the state, for good if its body has done so before."""
        logger.error("job cannot be applied: %s", cause, extra={"project": self.project.slug})
        key = job.body_hash or b""
        self.failures[key] = self.failures.get(key, 0) + 1
        error: EvolabelError = BusyError("rebuilding", "the request failed inside the learner; send it once more")
        if job.body_hash is None or self.failures[key] >= 2:
            error = CannotApplyError("the learner cannot learn from this request; do not send it again")
        job.result.set_exception(error)

    def _refuse(self, jobs: list[Job], error: EvolabelError) -> None:
        for job in jobs:
            job.result.set_exception(error)

    def _snapshot_if_due(self) -> None:
        if self.state is not None and self.head.seq - self._snapshot_seq >= self.state.settings.snapshot_every:
            self._snapshot("regular")

    def _snapshot(self, reason: str) -> None:
        """Store the state; an error is logged, because the log alone gives the same state."""
        if self.state is None:
            return
        snapshot = take_snapshot(self.state, self.head, self._clock(), reason)
        try:
            with self._pen.transaction() as connection:
                insert_snapshot(connection, self.project.id, snapshot)
                crash_point("in_snapshot")
        except EvolabelError as error:
            logger.error("snapshot failed: %s", error, extra={"project": self.project.slug})
            self.state = None
            return
        self._snapshot_seq = self.head.seq


class _BrokenError(Exception):
    """A `job` has left the state in an unknown condition, because of `cause`."""

    def __init__(self, job: Job, cause: str) -> None:
        super().__init__(cause)
        self.job = job
        self.cause = cause


def _settle(job: Job, result: Any) -> None:
    if isinstance(result, Exception):
        job.result.set_exception(result)
    else:
        job.result.set_result(result)


def _type_of(error: EvolabelError) -> str:
    """Return the type of problem of an `error` of the store."""
    if isinstance(error, NotWriterError):
        return "standby"
    return "disk-full" if isinstance(error, StoreError) and "full" in str(error) else "busy"


def _now() -> int:
    return time.time_ns() // 1000
