"""Copies of the state of a project: for readers, so that explanations never stop the worker, and for snapshots.

A copy for readers is made by the worker, right after a commit, only when a reader waits for one, and at most once a
second. Readers run one after the other in a thread.
"""

import copy
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from evolabel.errors import EvolabelError
from evolabel.server.log.records import Head
from evolabel.server.log.snapshots import drop_old_snapshots, insert_snapshot
from evolabel.server.log.times import DAY
from evolabel.server.log.writer import LogWriter, crash_point
from evolabel.server.project.jobs import BusyError, Operation
from evolabel.server.project.replay import take_snapshot
from evolabel.server.project.state import ProjectState

_SECONDS_KEPT = 1.0

T = TypeVar("T")


class StateCopy(NamedTuple):
    """A copy of the state after record `seq`, made at `at`, seconds of a clock that only runs forward.

    Readers share it, so what changes it needs a `trial`.
    """

    state: ProjectState
    seq: int
    at: float

    def trial(self) -> ProjectState:
        """Return another copy of the state, which the caller may change."""
        return copy.deepcopy(self.state)


class StateView:
    """The newest copy of the state of a project, and the thread in which it is read.

    `submit` queues an operation for the worker of the project, and `clock` returns seconds that only run forward.
    """

    def __init__(
        self, submit: Callable[[Operation], "Future[Any]"], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._submit = submit
        self._clock = clock
        self._newest: StateCopy | None = None
        self._asked = threading.Event()
        self._readers = ThreadPoolExecutor(1, "view")

    # ------------------------------------------------------------------ from other threads

    def read(self, function: Callable[[StateCopy], T]) -> "Future[T]":
        """Return the future of `function`, called with a copy of the state in the thread of the view.

        BusyError once the worker stops.
        """
        try:
            return self._readers.submit(lambda: function(self._copy()))
        except RuntimeError:
            raise BusyError("stopping", "the service is stopping; send the request again") from None

    def stop(self) -> None:
        """Take no further readers."""
        self._readers.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------------------ in the thread of the worker

    def after_commit(self, state: ProjectState, seq: int) -> None:
        """Copy the committed `state` after record `seq` if a reader waits for it."""
        if self._asked.is_set():
            self._newest = StateCopy(copy.deepcopy(state), seq, self._clock())
            self._asked.clear()

    def forget(self) -> None:
        """Give the next reader a new copy, however young the last one is."""
        self._newest = None

    # ------------------------------------------------------------------ in the thread of the view

    def _copy(self) -> StateCopy:
        """Return the newest copy, or a new one if it is older than a second."""
        newest = self._newest
        if newest is not None and self._clock() - newest.at < _SECONDS_KEPT:
            return newest
        while True:
            self._asked.set()
            self._submit(lambda batch: None).result()  # the worker makes the copy before it gives the result
            if (newest := self._newest) is not None:
                return newest


logger = logging.getLogger("evolabel.server")


class SnapshotWriter:
    """Writes one snapshot of project `project_id` at a time. An error is logged: the log alone gives the same state."""

    def __init__(self, project_id: int, writer: LogWriter) -> None:
        self.seq = 0
        """Record at which the last snapshot was begun or found."""
        self._project_id = project_id
        self._writer = writer
        self._last_at = 0
        self._thread: threading.Thread | None = None

    def due(self, head: Head, now: int, every: int) -> str | None:
        """Return why a snapshot at `head` is due at time `now`: `every` so many records, or a day; else None."""
        if self._thread is not None and self._thread.is_alive():
            return None
        if head.seq - self.seq >= every:
            return "regular"
        self._last_at = self._last_at or now
        return "daily" if head.seq > self.seq and now - self._last_at >= DAY else None

    def begin(self, state: ProjectState, head: Head, now: int, reason: str) -> None:
        """Copy `state` at `head`, and store the copy in a thread; `now` is the time, `reason` why it is taken."""
        self.finish()
        self.seq, self._last_at = head.seq, now
        arguments = (copy.deepcopy(state), head, now, reason)
        self._thread = threading.Thread(target=self._write, args=arguments, name="snapshot", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until the last snapshot is stored."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _write(self, state: ProjectState, head: Head, now: int, reason: str) -> None:
        try:
            snapshot = take_snapshot(state, head, now, reason)
            with self._writer.transaction() as connection:
                insert_snapshot(connection, self._project_id, snapshot)
                drop_old_snapshots(connection, self._project_id, now)
                crash_point("in_snapshot")
        except EvolabelError as error:
            logger.error("snapshot failed: %s", error)
