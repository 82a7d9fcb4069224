"""Jobs that wait for the worker of a project, and the errors by which they are refused."""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, NamedTuple

from sqlalchemy.exc import StatementError

from evolabel.errors import EvolabelError
from evolabel.server.log.writer import NotWriterError, StoreError, store_problem
from evolabel.server.project.batch import RecordBatch
from evolabel.server.project.settings import DEFAULT_LIMITS

JOBS_PER_BATCH = 256
ROWS_PER_BATCH = 1000  # some 0.3 s of work, so that a single sample does not wait long behind large requests

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
    """A operation to run, the rows it brings, the hash of its body, and where its result goes."""

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
