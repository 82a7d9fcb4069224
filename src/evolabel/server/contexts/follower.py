"""`Follower`: a project on the standby server. It applies what the writing server records, so that it can be read."""

import logging
from collections.abc import Mapping
from types import MappingProxyType

from evolabel.server.contexts.desk import Desk
from evolabel.server.contexts.jobs import Job
from evolabel.server.contexts.replay import applied
from evolabel.server.contexts.worker import Worker
from evolabel.server.store.lease_rows import read_leases
from evolabel.server.store.log import NewRecord, Record, read_records
from evolabel.server.store.pen import NotWriterError

_LOOK_SECONDS = 1.0  # at most, between two looks at the log

logger = logging.getLogger("evolabel.server")


class Follower(Worker):
    """Owns a copy of the state of one project that another process writes. Jobs may read it, none may record.

    Before each batch of jobs, and once a second, the records that came since are applied, and each outcome is compared
    with the one in the log.
    """

    def start(self, cause: str = "standby", *, keep_decisions: bool = False) -> None:
        """Begin to take jobs; the state is made from the log by the thread."""
        self._keep_decisions = keep_decisions
        self._thread.start()

    def _serve(self, jobs: list[Job]) -> None:
        """Apply new records, then give `jobs` their results."""
        if self.state is not None:
            self._follow()
        super()._serve(jobs)

    def _follow(self) -> None:
        """Apply the records that were written since the last look, and read the leases."""
        state, records = self.state, list[Record]()
        with self.reading() as connection:
            for record in read_records(connection, self.project.id, self.head.seq, self.head.chain):
                state = applied(state, record, keep_decisions=self._keep_decisions)
                records.append(record)
                self.head = self.head._replace(seq=record.seq, chain=record.chain)
            self.leases.restore(read_leases(connection, self.project.id))
        if records and state is not None:
            self.view.forget()
            self.feed.publish(records, state)

    def _rebuild(self, cause: str, *, keep_decisions: bool = False) -> None:
        """Make the state from the newest snapshot and the log."""
        self._term = self._pen.term
        with self.reading() as connection:
            restored = self._restored(connection, keep_decisions=self._keep_decisions)
        self.state, self.head, self.replayed = restored.state, restored.head, restored.replayed
        self._last_at = max(self._last_at, restored.last_at)
        logger.info("the standby has read %d records", restored.replayed, extra={"project": self.project.slug})

    def _seconds_until_due(self) -> float:
        return _LOOK_SECONDS

    def _close_due(self, desk: Desk) -> None:
        """Close nothing: the writing server does."""

    def _commit(self, entries: list[NewRecord], files: Mapping[int, bytes] = MappingProxyType({})) -> list[Record]:
        """Return no records; NotWriterError if there are `entries`, after which the state is made again."""
        if entries:
            raise NotWriterError("this server is the standby; send the request to the one that writes, or wait")
        return []

    def _snapshot_if_due(self, desk: Desk) -> None:
        """Store nothing."""

    def _finish(self) -> None:
        """Store nothing."""
