"""`Failures`: how often the learner has failed on each request, and on the close of each question.

They are stored, so that a restart does not try in vain again. Another version of the library begins with none.
"""

import logging
from collections.abc import Callable

from sqlalchemy import Connection

from evolabel.errors import EvolabelError
from evolabel.server.log.projects import Project
from evolabel.server.log.snapshots import failures_of, store_failure
from evolabel.server.log.writer import LogWriter
from evolabel.server.project.jobs import BusyError, CannotApplyError, Job

_MOST_TRIES = 2  # of a request on which the learner fails

logger = logging.getLogger("evolabel.server")


class BrokenError(Exception):
    """A job, or the close of a question, has left the state in an unknown condition; `key` counts its failures."""

    def __init__(self, cause: str, key: bytes | None, job: Job | None = None) -> None:
        super().__init__(cause)
        self.key = key
        self.job = job


class Failures:
    """The failures in `project` with this `version` of the libraries; `writer` stores them at the time of `clock`.

    `counts` has them by the hash of a request, or by the key of the close of a question.
    """

    def __init__(self, project: Project, writer: LogWriter, clock: Callable[[], int], version: str) -> None:
        self.counts: dict[bytes, int] = {}
        self._project = project
        self._writer = writer
        self._clock = clock
        self._version = version

    def read(self, connection: Connection) -> None:
        """Read the stored counts through `connection`; those of this process are kept."""
        self.counts = failures_of(connection, self._project.id, self._version) | self.counts

    def are_final(self, key: bytes | None) -> bool:
        """Whether what has this `key` has failed so often that it is not tried again; without one it may be."""
        return key is not None and self.counts.get(key, 0) >= _MOST_TRIES

    def add(self, broken: BrokenError) -> None:
        """Count and store the failure of a job or of the close of a question; refuse the job, at last for good."""
        logger.error("the learner has failed: %s", broken, extra={"project": self._project.slug})
        if (key := broken.key) is not None:
            count = self.counts[key] = self.counts.get(key, 0) + 1
            facts = {"error": str(broken), "version": self._version, "at": self._clock()}
            try:
                with self._writer.transaction() as connection:
                    store_failure(connection, self._project.id, {"body_hash": key, "count": count, **facts})
            except EvolabelError as error:
                logger.error("the failure was not stored: %s", error)
        if broken.job is not None:
            final = key is None or self.are_final(key)
            again = BusyError("rebuilding", "the request failed inside the learner; send it once more")
            broken.job.finish(CannotApplyError() if final else again)
