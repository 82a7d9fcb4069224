"""`Feed`: records of a project for those who listen, right after they were committed; and the events made of them."""

import json
import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from evolabel.server.log.activity import activity_rows
from evolabel.server.log.records import Record
from evolabel.server.project.state import ProjectState


class Waiting(NamedTuple):
    """Open questions with the people who have answered each, and whether asking is paused, after record `seq`."""

    seq: int
    answered: list[frozenset[int]]
    paused: bool

    @classmethod
    def of(cls, state: ProjectState, seq: int) -> "Waiting":
        """Return what waits in `state` after record `seq`."""
        return cls(seq, [frozenset(question.responses) for question in state.open.values()], state.paused)

    def count(self, person: int) -> int:
        """Return how many questions wait for a `person`."""
        return sum(person not in people for people in self.answered)


class Commit(NamedTuple):
    """Records that were committed together, and what waits after them."""

    records: list[Record]
    waiting: Waiting


class StreamEvent(NamedTuple):
    """An event of a stream: number of its record, name, data."""

    seq: int
    name: str
    data: dict[str, Any]

    def text(self) -> str:
        """Return the event as a stream of server-sent events holds it."""
        data = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        return f"id: {self.seq}\nevent: {self.name}\ndata: {data}\n\n"


class Feed:
    """Passes records on to listeners, which must not wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: set[Callable[[Commit], None]] = set()

    def listen(self, listener: Callable[[Commit], None]) -> None:
        """Call `listener` with each commit from now on, in the thread that publishes it."""
        with self._lock:
            self._listeners.add(listener)

    def forget(self, listener: Callable[[Commit], None]) -> None:
        """Call `listener` no more."""
        with self._lock:
            self._listeners.discard(listener)

    def publish(self, records: list[Record], state: ProjectState) -> None:
        """Pass `records` on, after which the project is in this `state`; without a listener nothing is done."""
        with self._lock:
            listeners = list(self._listeners)
        if listeners and records:
            commit = Commit(records, Waiting.of(state, records[-1].seq))
            for listener in listeners:
                listener(commit)


def stream_events(records: Iterable[Record]) -> list[StreamEvent]:
    """Return the events of `records`, in order."""
    return [StreamEvent(record.seq, name, data) for record in records for name, data in _events(record)]


def _events(record: Record) -> list[tuple[str, dict[str, Any]]]:
    """Return name and data of each event of a `record`."""
    kind, payload, outcome = record.entry.kind, record.known_payload(), record.entry.outcome
    found = list[tuple[str, dict[str, Any]]]()
    if kind == "sample":
        question = outcome["question"]
        found.append(("sample", {"number": outcome["number"], "asked": question is not None}))
        if question is not None:
            found.append(("question", {"number": outcome["number"], "labels": question["labels"]}))
    elif kind == "close" or outcome.get("closes"):
        cause = payload.get("cause", "answered")
        found.append(("closed", {"number": payload["number"], "cause": cause}))
        if cause == "answered":
            found.append(("final", {"number": payload["number"]}))
    acts = activity_rows(0, record)
    return [*found, *(("act", {"kind": row["kind"], "part": row["part"]}) for row in acts)]
