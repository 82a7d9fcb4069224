"""`Worker`: the one thread that changes a project. It takes all waiting jobs, applies them, and commits them together.

While one batch is written to the disk, the next jobs gather, so there is no timer. No result is sent before it is
committed. If a commit fails or a job breaks the state, the state is made again from the log.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from evolabel.errors import EvolabelError
from evolabel.server.log import derive, disk
from evolabel.server.log.canonical import canonical
from evolabel.server.log.projects import Project, next_epoch
from evolabel.server.log.records import Head, NewRecord, Record, store_blob
from evolabel.server.log.snapshots import ACT
from evolabel.server.log.times import SECOND, now_us
from evolabel.server.log.writer import LogWriter, NotWriterError, StoreError, crash_point, reading
from evolabel.server.people.people import names_of
from evolabel.server.project.batch import RecordBatch, TornError
from evolabel.server.project.copies import SnapshotWriter, StateView
from evolabel.server.project.counters import Metrics, WorkerCounters
from evolabel.server.project.effects import Effects
from evolabel.server.project.feed import Feed
from evolabel.server.project.jobs import (
    BrokenError,
    BusyError,
    CannotApplyError,
    Failures,
    Job,
    JobQueue,
    Operation,
    as_busy,
    may_be_of_one_job,
    refuse_all,
)
from evolabel.server.project.learner_changes import MODEL_KINDS, RULE_KINDS, UNDONE
from evolabel.server.project.operations import UnclosedError, close_due, close_key
from evolabel.server.project.questions import Leases, next_change, read_leases, write_leases
from evolabel.server.project.replay import find_last_start, restore, versions
from evolabel.server.project.settings import DEFAULT_LIMITS, ServiceLimits
from evolabel.server.project.state import ProjectState

_IDLE_SECONDS = 5.0
_RETRY_SECONDS = 1.0
_BUSY_JOBS = 8  # that wait while effects of answers are left out

logger = logging.getLogger("evolabel.server")


class Worker:
    """Owns the state of one `project`, which the connection of `writer`, shared by all, writes and `reader` reads.

    `clock` returns microseconds since 1970, `metrics` are those of the service.
    """

    def __init__(
        self,
        project: Project,
        writer: LogWriter,
        reader: Engine,
        limits: ServiceLimits = DEFAULT_LIMITS,
        clock: Callable[[], int] | None = None,
        *,
        metrics: Metrics | None = None,
    ) -> None:
        self.project = project
        self.head: Head = project.head
        self.state: ProjectState | None = None
        self.replayed = 0
        self.refusal = ""  # why the project cannot be served, if it cannot
        self.leases = Leases()
        self.counters = WorkerCounters(metrics or Metrics(), project.slug)
        self.feed = Feed()
        self.view = StateView(self.submit)
        self.effects = Effects(project.id, self.view, reader, writer, lambda: len(self._queue) > _BUSY_JOBS)
        self._writer = writer
        self._reader = reader
        self._clock = clock or now_us
        self._last_at = 0
        self._failures = Failures(project, writer, self._clock, canonical(versions()))
        self._term = 0
        self._names: dict[int, str] = {}
        self._limits = limits
        self._queue = JobQueue(limits.queue)
        self._snapshots = SnapshotWriter(project.id, writer)
        self._thread = threading.Thread(target=self._run, name=f"worker-{project.slug}", daemon=True)

    # ------------------------------------------------------------------ from other threads

    def start(self, cause: str = "start") -> None:
        """Make the state from the log for this `cause`, and begin to take jobs."""
        self._rebuild(cause)
        self._thread.start()
        self.effects.start()

    def submit(self, operation: Operation, rows: int = 1, body_hash: bytes | None = None) -> "Future[Any]":
        """Queue `operation`, which brings this many `rows`, and return the future of its result.

        `body_hash` is that of its request.

        BusyError if too many jobs wait or the worker stops; the future has one if the project cannot be served.
        """
        job = Job(operation, rows, body_hash, Future())
        self._queue.put(job)
        if self.refusal:
            self.refuse(self.refusal)
        return job.result

    def call(self, operation: Operation) -> Any:
        """Return the result of `operation` after it was committed; for threads that may wait."""
        return self.submit(operation).result()

    def reading(self) -> "AbstractContextManager[Connection]":
        """Return a connection that reads what was committed."""
        return reading(self._reader)

    @property
    def waiting(self) -> int:
        """Number of jobs that wait."""
        return len(self._queue)

    @property
    def is_ready(self) -> bool:
        """Whether the state is that of the log and jobs are taken."""
        return self.is_begun and self.state is not None and not self._queue.stopping

    @property
    def is_begun(self) -> bool:
        """Whether jobs have been taken since the start."""
        return self._thread.ident is not None

    def check_begun(self) -> None:
        """Raise BusyError unless jobs are taken: while the state is made from the log, or where it cannot be made."""
        if self.refusal:
            raise self._not_served()
        if not self.is_begun:
            raise BusyError("starting", "the project is being made ready; send the request again in a few seconds")

    def refuse(self, why: str) -> None:
        """Refuse the jobs that wait, and those that come, because the project cannot be served; `why` is the cause."""
        self.refusal = why
        while jobs := self._queue.take(0.0):
            refuse_all(jobs, self._not_served())

    def _not_served(self) -> BusyError:
        return BusyError("not-served", f"the project cannot be served: {self.refusal}")

    def begin_stop(self) -> None:
        """Take no further jobs, so that several workers finish at the same time."""
        self._queue.stop()

    def stop(self, timeout: float = 10.0) -> None:
        """Finish the queue within `timeout` seconds, store a snapshot, and end the thread."""
        self._queue.stop()
        self.effects.stop()
        self.view.stop()
        if self._thread.is_alive():
            self._thread.join(timeout)

    # ------------------------------------------------------------------ in the thread

    def _run(self) -> None:
        while not self._queue.stopping or len(self._queue):
            jobs = self._queue.take(self._seconds_until_due())
            error = self._try(jobs)
            if error is not None and len(jobs) > 1 and may_be_of_one_job(error):
                for job in jobs:
                    if not job.result.done():
                        refuse_all([job], as_busy(self._try([job])))
            elif error is not None:
                refuse_all(jobs, as_busy(error))
        self._finish()

    def _finish(self) -> None:
        """Store a snapshot at the end."""
        if self.state is not None and self.head.seq > self._snapshots.seq:
            self._snapshots.begin(self.state, self.head, self._clock(), "stop")
        self._snapshots.finish()

    def _try(self, jobs: list[Job]) -> Exception | None:
        """Serve `jobs`, and return the error by which they failed, if any: then memory may be ahead of the log."""
        try:
            self._serve(jobs)
        except Exception as error:
            self.state = None
            logger.error("batch failed: %s", error, exc_info=not isinstance(error, EvolabelError))
            return error
        return None

    def _seconds_until_due(self) -> float:
        if self.state is None:
            return _RETRY_SECONDS
        due = next_change(iter(self.state.open.values()), self._last_at, self.state.settings)
        if due is None:
            return _IDLE_SECONDS
        return min(max((due - self._clock()) / SECOND, 0.0), _IDLE_SECONDS)

    def _serve(self, jobs: list[Job]) -> None:
        """Apply `jobs`, commit what they recorded, then give them their results."""
        if self.state is None or self._term != self._writer.term:
            self._recover()
        while True:
            try:
                with reading(self._reader) as log:
                    batch = self._batch(log)
                    begin = time.perf_counter()
                    results = self._apply(batch, jobs)
                self.counters.add_batch(time.perf_counter() - begin)
                break
            except BrokenError as broken:
                self.state = None
                self._failures.add(broken)
                jobs = [job for job in jobs if job is not broken.job]
                self._recover()
        records = self._commit(batch.entries, batch.files)
        if any(entry.kind in (*RULE_KINDS, *MODEL_KINDS, UNDONE) for entry in batch.entries):
            self.view.forget()
        self.view.after_commit(batch.state, self.head.seq)
        self.effects.after_commit(records)
        for job, result in zip(jobs, results, strict=True):
            job.finish(result)
        self.feed.publish(records, batch.state)
        self._store_leases()
        self._snapshot_if_due(batch)

    def _batch(self, log: Any) -> RecordBatch:
        if self.state is None:
            raise BusyError("rebuilding", "the model is being read again; try again in a second")
        self._last_at = max(self._clock(), self._last_at)
        room = disk.Room(disk.free_bytes(self._writer.url), self._limits.min_free)
        return RecordBatch(self.project.id, self.state, self.head.seq, self._last_at, log, room=room)

    def _apply(self, batch: RecordBatch, jobs: list[Job]) -> list[Any]:
        """Return the result of each job, an error for one that is refused."""
        self._close_due(batch)
        results = list[Any]()
        for job in jobs:
            recorded = len(batch.entries)
            try:
                results.append(self._result(batch, job))
            except SQLAlchemyError:
                raise
            except Exception as error:
                if isinstance(error, TornError) or len(batch.entries) > recorded:
                    raise BrokenError(str(error), job.body_hash, job) from error
                results.append(error)
        self._close_due(batch)
        crash_point("after_apply")
        return results

    def _read_names(self) -> None:
        """Read the names of people, with which answers are learned."""
        with reading(self._reader) as connection:
            self._names = names_of(connection)

    def _close_due(self, batch: RecordBatch) -> None:
        answered = {person for question in batch.state.open.values() for person in question.responses}
        if not answered <= self._names.keys():
            self._read_names()
        try:
            close_due(batch, self._names, self._failures.counts)
        except UnclosedError as error:
            raise BrokenError(str(error), close_key(error.number)) from error

    def _result(self, batch: RecordBatch, job: Job) -> Any:
        """Return what the operation of `job` returns; CannotApplyError if its body has failed twice before."""
        if self._failures.are_final(job.body_hash):
            raise CannotApplyError
        return job.operation(batch)

    def _commit(self, entries: list[NewRecord], files: Mapping[int, bytes] = MappingProxyType({})) -> list[Record]:
        """Append `entries`, their derived rows and `files` in one transaction, and return their records."""
        if not entries:
            return []
        begin = time.perf_counter()
        try:
            with self._writer.transaction() as connection:
                head = self._writer.append(connection, self.project.id, self.head, entries)
                records = [Record(self.head.seq + 1 + i, entry, b"") for i, entry in enumerate(entries)]
                derive.write(connection, self.project.id, records)
                for data in files.values():
                    store_blob(connection, self.project.id, data, entries[-1].at)
                crash_point("in_commit")
        except NotWriterError as error:  # the next try shows whether another process writes
            raise StoreError(f"the writing connection was lost ({error})") from error
        crash_point("after_commit")
        self.counters.add_commit(entries, time.perf_counter() - begin)
        self.head = head
        return records

    def _recover(self) -> None:
        """Make the state again from the log; after an error the next try is a second later."""
        try:
            self._rebuild("recovery")
        except Exception:
            time.sleep(_RETRY_SECONDS)
            raise

    def _rebuild(self, cause: str) -> None:
        """Become the writer, begin a new epoch, and make the state from the log; `cause` goes into the record."""
        self.state = None
        self.counters.add_rebuild(cause)
        self._snapshots.finish()
        if not self._writer.acquire():
            raise NotWriterError("another process writes to this database; stop it, or wait until it ends")
        self._term = self._writer.term
        with self._writer.transaction() as connection:
            self.head = next_epoch(connection, self.project)
        with reading(self._reader) as connection:
            last_start = find_last_start(connection, self.project.id)
            restored = restore(connection, self.project.id, self.head.epoch, self._check_beginning)
            self._failures.read(connection)
            self.leases.restore(read_leases(connection, self.project.id))
        self._read_names()
        self.head, self._snapshots.seq, self.replayed = restored.head, restored.snapshot_seq, restored.replayed
        self._last_at = max(self._clock(), self._last_at, restored.last_at)
        payload = {"epoch": self.head.epoch, "versions": versions(), "cause": cause}
        payload |= {"replayed": restored.replayed, "stopped": last_start.stopped or restored.last_at}
        payload |= {"left_out": restored.left_out} if restored.left_out else {}
        entries = [("epoch.started", payload)]
        if changed := last_start.versions != versions():
            entries.insert(0, ("library.changed", {"from": last_start.versions, "to": versions()}))
        at = self._last_at
        records = self._commit([NewRecord(k, p, restored.state.apply(k, p, at), at) for k, p in entries])
        self.state = restored.state
        self.feed.publish(records, restored.state)
        if changed or restored.replayed:  # else the next start would replay as many records
            self._snapshots.begin(restored.state, self.head, at, "library" if changed else cause)

    def _check_beginning(self) -> None:
        """Raise BusyError if the worker is stopped before it has taken any job; those it has taken are finished."""
        if not self.is_begun:
            self._queue.check_open()

    def _store_leases(self) -> None:
        """Write the leases that were given or ended; they are hints, so requests do not wait for it."""
        if changed := self.leases.take_changed():
            with contextlib.suppress(EvolabelError), self._writer.transaction() as connection:
                write_leases(connection, self.project.id, changed)

    def _snapshot_if_due(self, batch: RecordBatch) -> None:
        reason = self._snapshots.due(self.head, batch.now, batch.state.settings.snapshot_every)
        if batch.snapshot and self.head.seq > self._snapshots.seq:
            reason = ACT
        if reason is not None:
            self._snapshots.begin(batch.state, self.head, batch.now, reason)
