"""`Effects`: how answers change the last predictions, computed on copies of the state in a thread of its own.

While an answer can be taken back, a copy is trained by it on trial: "will change". When its question is closed, the
copy from before is trained by the answers that were learned: "changed". At most one is computed a second. While the
worker has much to do, or others wait already, an effect is left out; nothing depends on it.
"""

import logging
import queue
import threading
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, delete, insert, select

from evolabel.errors import EvolabelError
from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.projects import find_sample
from evolabel.server.log.records import Record
from evolabel.server.log.schema import EFFECT
from evolabel.server.log.times import DAY
from evolabel.server.log.writer import LogWriter
from evolabel.server.project.copies import StateCopy, StateView
from evolabel.server.project.questions import agreed_answers, first_needed
from evolabel.server.project.sample_rows import cells_before
from evolabel.server.project.state import Facts, ProjectState
from evolabel.server.project.trials import COMPARED, Cells, compare

_KEPT = 30 * DAY


def store_effect(connection: Connection, project_id: int, number: int, values: dict[str, Any], at: int) -> None:
    """Write through `connection` what the answer to question `number` of project `project_id` changed, at time `at`.

    `values` are of, changed and labels. Those of the project that are older than 30 days are removed.
    """
    of_project = EFFECT.c.project_id == project_id
    connection.execute(delete(EFFECT).where(of_project, (EFFECT.c.number == number) | (EFFECT.c.at < at - _KEPT)))
    row = {**values, "labels": canonical(values["labels"]), "at": at}
    connection.execute(insert(EFFECT).values(project_id=project_id, number=number, **row))


def effects_of(connection: Connection, project_id: int, numbers: Collection[int]) -> dict[int, dict[str, Any]]:
    """Return what the answers to questions `numbers` of project `project_id` changed, by number, by `connection`."""
    query = select(EFFECT).where(EFFECT.c.project_id == project_id, EFFECT.c.number.in_(list(numbers)))
    return {
        row.number: {"of": row.of, "changed": row.changed, "labels": parsed(row.labels), "final": True}
        for row in connection.execute(query)
    }


_PAUSE_SECONDS = 1.0
_MOST_WAITING = 4
_MOST_KEPT = 200  # effects of answers that can be taken back

logger = logging.getLogger("evolabel.server")


class _Task(NamedTuple):
    """An answer that was recorded, or the payload by which its question was `closed`."""

    number: int
    seq: int
    at: int
    closed: Facts | None


class Effects:
    """What the answers of project `project_id` change, computed in `view`; `reader` and `writer` are of its database.

    While `is_busy` returns that the worker has much to do, effects are left out.
    """

    def __init__(
        self, project_id: int, view: StateView, reader: Engine, writer: LogWriter, is_busy: Callable[[], bool]
    ) -> None:
        self._project_id = project_id
        self._view = view
        self._reader = reader
        self._writer = writer
        self._is_busy = is_busy
        self._expected: dict[int, Facts] = {}
        self._before: StateCopy | None = None
        self._tasks: queue.Queue[_Task] = queue.Queue(_MOST_WAITING)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="effects", daemon=True)

    # ------------------------------------------------------------------ from other threads

    def start(self) -> None:
        """Begin to compute effects."""
        self._thread.start()

    def stop(self) -> None:
        """Compute no further ones."""
        self._stopped.set()

    def after_commit(self, records: Collection[Record]) -> None:
        """Note the answers and closed questions in `records`; called by the worker."""
        for record in records:
            kind, payload, at = record.entry.kind, record.entry.payload, record.entry.at
            can_change = kind == "answer" and record.entry.outcome["final_at"] > at
            is_learned = kind == "close" and bool(payload["rows"])
            if kind in ("answer", "refusal", "withdrawal", "close", "labels.late") and not is_learned:
                self._expected.pop(payload["number"], None)
            if not (can_change or is_learned):
                continue
            if not self._put(_Task(payload["number"], record.seq, at, None if can_change else payload)):
                self._expected.pop(payload["number"], None)

    def _put(self, task: _Task) -> bool:
        """Queue `task`, and return whether there was room and time for it."""
        if self._is_busy():
            return False
        try:
            self._tasks.put_nowait(task)
        except queue.Full:
            return False
        return True

    def find(self, numbers: Collection[int]) -> dict[int, Facts]:
        """Return what the answers to questions `numbers` changed, or will change, by number; unknown ones are absent.

        `labels` has to_yes and to_no by label once it is `final`, and is empty before.
        """
        expected = {number: effect for number in numbers if (effect := self._expected.get(number)) is not None}
        with self._reader.connect() as connection:
            return expected | effects_of(connection, self._project_id, numbers)

    # ------------------------------------------------------------------ in the thread

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                task = self._tasks.get(timeout=_PAUSE_SECONDS)
            except queue.Empty:
                continue
            self._view.forget()  # a copy from before the answer has nothing of it
            try:
                self._view.read(lambda copy, task=task: self._compute(copy, task)).result()  # type: ignore[misc]
            except EvolabelError as error:
                logger.info("an effect was left out: %s", error)
            except Exception:
                logger.exception("an effect could not be computed")
            self._stopped.wait(_PAUSE_SECONDS)

    def _compute(self, copy: StateCopy, task: _Task) -> None:
        """Keep or store the effect of `task`; `copy` is one of the newest states."""
        before = copy if task.closed is None else self._before
        if before is not None and (task.number in before.state.open or before.seq < task.seq):
            trained = self._trained(before, task)
            if trained is not None:
                self._keep(task, before.state, trained)
        self._before = copy

    def _trained(self, before: StateCopy, task: _Task) -> ProjectState | None:
        """Return the state `before`, trained by the answers of `task`; None if there is nothing to learn."""
        trial, question = before.trial(), before.state.open.get(task.number)
        if question is not None:
            payload = task.closed or _closing_now(before.state, task.number)
            if payload is not None:
                trial.apply("close", payload, task.at)
            return None if payload is None else trial
        with self._reader.connect() as connection:
            sample = find_sample(connection, self._project_id, task.number)
        agreed = {} if task.closed is None else agreed_answers(task.closed["rows"])
        if sample is None or not agreed or sample.entry.payload is None:
            return None
        trial.apply("labels.late", {"number": task.number, "x": sample.entry.payload["x"], "y": agreed}, task.at)
        return trial

    def _keep(self, task: _Task, before: ProjectState, after: ProjectState) -> None:
        """Compare the predictions `before` and `after` for the last samples, and keep the effect of `task`."""
        with self._reader.connect() as connection:
            samples: list[Cells] = cells_before(connection, self._project_id, before.seen, COMPARED)
        found = compare(before, after, samples)._asdict()
        if task.closed is None:
            self._expected[task.number] = {**found, "labels": {}, "final": False}
            while len(self._expected) > _MOST_KEPT:
                del self._expected[next(iter(self._expected))]
            return
        with self._writer.transaction() as connection:
            store_effect(connection, self._project_id, task.number, found, task.at)
        self._expected.pop(task.number, None)


def _closing_now(state: ProjectState, number: int) -> Facts | None:
    """Return the payload that would close question `number` of `state` with the answers it has; None without any."""
    answered = [r for r in state.open[number].responses.values() if r.status == "submitted"]
    given = first_needed(state.open[number], answered) or answered
    rows = [response.answers for response in given]
    names = [f"person {response.person}" for response in given]
    return {"number": number, "cause": "answered", "rows": rows, "annotators": names} if rows else None
