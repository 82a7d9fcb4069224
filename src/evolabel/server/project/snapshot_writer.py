"""`SnapshotWriter`: stores the state of a project from a thread of its own, so that jobs wait for a copy only."""

import copy
import logging
import threading

from evolabel.errors import EvolabelError
from evolabel.server.log.crash_points import crash_point
from evolabel.server.log.log import Head
from evolabel.server.log.pen import Pen
from evolabel.server.log.snapshots import drop_old_snapshots, insert_snapshot
from evolabel.server.log.times import DAY
from evolabel.server.project.replay import take_snapshot
from evolabel.server.project.state import ProjectState

logger = logging.getLogger("evolabel.server")


class SnapshotWriter:
    """Writes one snapshot at a time. An error is logged, because the log alone gives the same state.

    Parameters
    ----------
    project_id : int
    pen : Pen
    """

    def __init__(self, project_id: int, pen: Pen) -> None:
        self.seq = 0
        """Record at which the last snapshot was begun or found."""
        self._project_id = project_id
        self._pen = pen
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
            with self._pen.transaction() as connection:
                insert_snapshot(connection, self._project_id, snapshot)
                drop_old_snapshots(connection, self._project_id, now)
                crash_point("in_snapshot")
        except EvolabelError as error:
            logger.error("snapshot failed: %s", error)
