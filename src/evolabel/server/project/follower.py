"""`Follower`: a project on the standby server. It applies what the writing server records, so that it can be read."""

import logging
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

from evolabel.server.log.records import LogError, NewRecord, Record, read_records
from evolabel.server.log.writer import NotWriterError
from evolabel.server.project.batch import RecordBatch
from evolabel.server.project.jobs import BusyError, Job, refuse_all
from evolabel.server.project.learner_changes import MODEL_KINDS, RULE_KINDS, UNDONE
from evolabel.server.project.questions import read_leases
from evolabel.server.project.replay import ReplayError, apply_record, restore
from evolabel.server.project.worker import Worker

STANDBY = "this server is the standby; send the request to the one that writes, or wait"
"""The refusal of a request that writes."""
_LOOK_SECONDS = 1.0  # at most, between two looks at the log
_UNREADABLE_SECONDS = 60.0  # between two tries to read a log that cannot be applied here

logger = logging.getLogger("evolabel.server")


class Follower(Worker):
    """Owns a copy of the state of one project that another process writes. Jobs may read it, none may record.

    Before each batch of jobs, and once a second, the records that came since are applied.
    """

    def follow(self, lock: AbstractContextManager[Any]) -> None:
        """Begin to take jobs; the thread makes the state from the log, one follower at a time by the `lock`."""
        self._lock = lock
        self._unreadable, self._next_try = "", 0.0
        self._thread.start()

    def _serve(self, jobs: list[Job]) -> None:
        """Apply new records, then give `jobs` their results."""
        if self.state is None and time.monotonic() < self._next_try:
            refuse_all(jobs, BusyError("standby", self._unreadable))
            return
        self._term = self._writer.term  # the state depends on the log alone, also when this process becomes the writer
        if self.state is not None:
            self._follow()
        super()._serve(jobs)

    def _follow(self) -> None:
        """Apply the records that were written since the last look, and read the leases."""
        state, records = self.state, list[Record]()
        with self.reading() as connection:
            for record in read_records(connection, self.project.id, self.head.seq, self.head.chain):
                state, _ = apply_record(state, record)
                records.append(record)
                self.head = self.head._replace(seq=record.seq, chain=record.chain)
            self.leases.restore(read_leases(connection, self.project.id))
        if any(record.entry.kind in (*RULE_KINDS, *MODEL_KINDS, UNDONE) for record in records):
            self.view.forget()
        if records and state is not None:
            self.feed.publish(records, state)

    def _recover(self) -> None:
        """Make the state from the log; where it cannot be applied here, the next try is a minute later."""
        try:
            super()._recover()
        except (LogError, ReplayError) as error:
            self._unreadable = f"this standby cannot read the project ({error}); read it on the server that writes"
            self._next_try = time.monotonic() + _UNREADABLE_SECONDS
            raise BusyError("standby", self._unreadable) from error

    def _rebuild(self, cause: str) -> None:
        """Make the state from the newest snapshot and the log; nothing records the `cause`."""
        with self._lock, self.reading() as connection:
            restored = restore(connection, self.project.id, self.head.epoch, self._queue.check_open)
            self.leases.restore(read_leases(connection, self.project.id))
        self.state, self.head, self.replayed = restored.state, restored.head, restored.replayed
        self._last_at = max(self._last_at, restored.last_at)
        logger.info("the standby has read %d records", restored.replayed, extra={"project": self.project.slug})

    def _seconds_until_due(self) -> float:
        return _LOOK_SECONDS

    def _close_due(self, batch: RecordBatch) -> None:
        """Close nothing: the writing server does."""

    def _commit(self, entries: list[NewRecord], files: Mapping[int, bytes] = MappingProxyType({})) -> list[Record]:
        """Return no records; NotWriterError if there are `entries`, after which the state is made again."""
        if entries:
            raise NotWriterError(STANDBY)
        return []

    def _store_leases(self) -> None:
        """Store nothing."""

    def _snapshot_if_due(self, batch: RecordBatch) -> None:
        """Store nothing."""

    def _finish(self) -> None:
        """Store nothing."""


def check_can_write(worker: Worker, method: str = "") -> None:
    """Raise NotWriterError if `worker` only follows another server, unless the `method` of the request reads.

    Without a `method` the request writes, whatever its method is.
    """
    if isinstance(worker, Follower) and method not in ("GET", "HEAD"):
        raise NotWriterError(STANDBY)
