"""`StateBeside`: a state made from records beside the live one, until the worker takes over its learner."""

import copy
from collections.abc import Iterable
from typing import Self

from evolabel.server.log.canonical import canonical
from evolabel.server.log.log import FIRST_CHAIN, Record, read_records
from evolabel.server.project.desk import Desk
from evolabel.server.project.replay import IMPORT
from evolabel.server.project.state import ProjectState
from evolabel.server.project.verbs import ConflictError
from evolabel.server.project.worker import Worker

RECORDS_A_SECOND = 400
"""Records of a replay that are applied in a second, on a busy machine."""


class StateBeside:
    """A state, and how far it has come; `apply` says what a record does to it."""

    def __init__(self) -> None:
        self.state: ProjectState | None = None
        self.seq, self.chain = 0, FIRST_CHAIN

    def apply(self, state: ProjectState, record: Record) -> None:
        """Change `state` by `record`, which has its payload."""
        raise NotImplementedError

    def follow(self, records: Iterable[Record]) -> None:
        """Apply `records`, which come behind those so far; ConflictError for one whose payload is in the archive."""
        for record in records:
            if record.entry.payload is None:
                raise ConflictError("no-payload", f"the payload of record {record.seq} is in the archive; {IMPORT}")
            if self.state is None:
                self.state = ProjectState.created(record.entry.payload)
            else:
                self.apply(self.state, record)
            self.seq, self.chain = record.seq, record.chain

    def catch_up(self, worker: Worker) -> None:
        """Follow the log of `worker` until it is at most a second ahead."""
        while True:
            with worker.reading() as connection:
                self.follow(read_records(connection, worker.project.id, self.seq, self.chain))
            if worker.head.seq - self.seq <= RECORDS_A_SECOND:
                return

    def at_end(self, desk: Desk, what: str) -> tuple[Self, bytes]:
        """Return a copy that has followed the log up to the end of the `desk`, and the bytes of its learner.

        It is a copy, because the worker asks again if another job of the batch breaks. ConflictError, named after
        `what` is done, if it has other questions or counts than the live state.
        """
        made = copy.deepcopy(self)
        made.follow(desk.behind(made.seq, made.chain))
        if made.state is None or canonical(made.state.facts()) != canonical(desk.state.facts()):
            raise ConflictError(f"{what}-differs", "the log gives other questions or counts than the live project has")
        return made, made.state.learner.to_bytes()
