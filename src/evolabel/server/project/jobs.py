"""Jobs that wait for the worker of a project, the errors by which they are refused, and how often each has failed."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import StatementError

from evolabel.errors import EvolabelError
from evolabel.server.log.projects import Project
from evolabel.server.log.schema import FAILURE
from evolabel.server.log.writer import LogWriter, NotWriterError, StoreError, store_problem
from evolabel.server.project.batch import RecordBatch
from evolabel.server.project.settings import DEFAULT_LIMITS

JOBS_PER_BATCH = 256
ROWS_PER_BATCH = 1000  # some 0.3 s of work, so that a single sample does not wait long behind large requests

_MOST_TRIES = 2  # of a request on which the learner fails

logger = logging.getLogger("evolabel.server")

Operation = Callable[[RecordBatch], Any]


class BusyError(EvolabelError, RuntimeError):
    """The request was not carried out and can be sent again; `type` names the reason."""

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type


class CannotApplyError(EvolabelError, RuntimeError):
    """The learner has failed twice on this request; sending it again does not help."""

    def __init__(self) -> None:
        super().__init__("the learner cannot learn from this request; do not send it again")


class Job(NamedTuple):
    """An operation to run, the rows it brings, the hash of its body, and where its result goes."""

    operation: Operation
    rows: int
    body_hash: bytes | None
    result: "Future[Any]"

    def finish(self, result: Any) -> None:
        """Give the sender a `result`, or an exception."""
        if isinstance(result, Exception):
            self.result.set_exception(result)
        else:
            self.result.set_result(result)


def refuse_all(jobs: Iterable[Job], error: EvolabelError) -> None:
    """Give the senders of `jobs` that have no result yet this `error`."""
    for job in jobs:
        if not job.result.done():
            job.result.set_exception(error)


class JobQueue:
    """Jobs in the order in which they came; with `most` of them waiting, further ones are refused."""

    def __init__(self, most: int = DEFAULT_LIMITS.queue) -> None:
        self.stopping = False
        self._most = most
        self._jobs: deque[Job] = deque()
        self._wake = threading.Condition()  # over a lock that its holder can take again

    def __len__(self) -> int:
        return len(self._jobs)

    def put(self, job: Job) -> None:
        """Append `job`; BusyError if too many wait or the service stops."""
        with self._wake:
            self.check_open()
            if len(self._jobs) >= self._most:
                raise BusyError("busy", f"{self._most} requests wait; send the request again in a second")
            self._jobs.append(job)
            self._wake.notify()

    def check_open(self) -> None:
        """Raise BusyError if no further jobs are taken."""
        if self.stopping:
            raise BusyError("stopping", "the service is stopping; send the request again")

    def stop(self) -> None:
        """Take no further jobs."""
        with self._wake:
            self.stopping = True
            self._wake.notify()

    def take(self, seconds: float) -> list[Job]:
        """Return the waiting jobs, at most one batch of them; empty if none comes within `seconds`.

        A job whose sender has gone is left out, and none that is returned can be cancelled any more.
        """
        with self._wake:
            if not self._jobs and not self.stopping:
                self._wake.wait(seconds)
            jobs, rows = list[Job](), 0
            while self._jobs and len(jobs) < JOBS_PER_BATCH:
                if jobs and rows + self._jobs[0].rows > ROWS_PER_BATCH:
                    break
                job = self._jobs.popleft()
                if job.result.set_running_or_notify_cancel():
                    jobs.append(job)
                    rows += job.rows
            return jobs


def may_be_of_one_job(error: Exception) -> bool:
    """Return whether `error` may come from what one job brought, so that the others can succeed without it."""
    return isinstance(error.__cause__ or error, StatementError) and not is_full(error)


def is_full(error: Exception) -> bool:
    """Return whether `error` is that of a full disk."""
    return any(sign in str(error) for sign in ("disk is full", "No space left"))


def as_busy(error: Exception | None) -> BusyError:
    """Return the answer to requests whose batch has failed by `error`."""
    if isinstance(error, BusyError):
        return error
    if isinstance(error, NotWriterError):
        return BusyError("standby", str(error))
    if isinstance(error, StoreError):
        if is_full(error):
            return BusyError("disk-full", f"{error}; the request can be sent again")
        return BusyError(*store_problem(error))
    return BusyError("rebuilding", "the model is being read again; try again in a second")


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
        query = select(FAILURE.c.body_hash, FAILURE.c.count).where(
            FAILURE.c.project_id == self._project.id, FAILURE.c.version == self._version
        )
        self.counts = {bytes(key): count for key, count in connection.execute(query)} | self.counts

    def are_final(self, key: bytes | None) -> bool:
        """Whether what has this `key` has failed so often that it is not tried again; without one it may be."""
        return key is not None and self.counts.get(key, 0) >= _MOST_TRIES

    def add(self, broken: BrokenError) -> None:
        """Count and store the failure of a job or of the close of a question; refuse the job, at last for good."""
        logger.error("the learner has failed: %s", broken, extra={"project": self._project.slug})
        if (key := broken.key) is not None:
            count = self.counts[key] = self.counts.get(key, 0) + 1
            same = {"project_id": self._project.id, "body_hash": key}
            facts = {"count": count, "error": str(broken), "version": self._version, "at": self._clock()}
            try:
                with self._writer.transaction() as connection:
                    connection.execute(delete(FAILURE).filter_by(**same))
                    connection.execute(insert(FAILURE).values(**same, **facts))
            except EvolabelError as error:
                logger.error("the failure was not stored: %s", error)
        if broken.job is not None:
            final = key is None or self.are_final(key)
            again = BusyError("rebuilding", "the request failed inside the learner; send it once more")
            broken.job.finish(CannotApplyError() if final else again)
