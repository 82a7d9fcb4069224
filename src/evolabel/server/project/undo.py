"""Undo of an act by replay: the records since before the act are applied again, without it, beside the live model.

What was asked stays as it was: each sample is counted with the question that it had (`ProjectState.apply`, `decided`).
Only the learner differs in the end. When the replay has caught up with the log, the worker takes over its learner
between two batches, by a record that names its bytes.
"""

from contextlib import suppress
from math import ceil

from sqlalchemy import Connection

from evolabel.errors import EvolabelError
from evolabel.server.log.log import Record, find_kinds
from evolabel.server.log.snapshots import read_snapshot, snapshot_seals
from evolabel.server.people.people import names_of
from evolabel.server.project.acts import UNDO_KINDS, UndoPlan, plan_undo, shown_act, undo_by_inverse
from evolabel.server.project.beside import RECORDS_A_SECOND, StateBeside
from evolabel.server.project.desk import Desk, Origin
from evolabel.server.project.model_records import NEW_MODEL_KINDS, REBUILT, REPLACED, blob_hash
from evolabel.server.project.replay import find_state
from evolabel.server.project.rule_acts import UNDONE
from evolabel.server.project.state import Facts, ProjectState
from evolabel.server.project.verbs import ConflictError, UnknownError
from evolabel.server.project.worker import Worker


class UndoBeside(StateBeside):
    """The state from before an act on, without it.

    Parameters
    ----------
    connection : Connection
        Reads the log and the snapshots.
    project_id : int
    plan : UndoPlan
    """

    def __init__(self, connection: Connection, project_id: int, plan: UndoPlan) -> None:
        super().__init__()
        self.plan = plan
        starts = [record.entry.payload for record in find_kinds(connection, project_id, ("epoch.started",))]
        self._absent = {seq for payload in starts for seq in payload.get("left_out", ())}
        """Acts that a start has left out, so that the live model is without them as well."""
        for seq in reversed([seq for seq in snapshot_seals(connection, project_id) if seq < plan.first]):
            snapshot = read_snapshot(connection, project_id, seq)
            if (state := find_state(snapshot)) is not None:
                self.state, self.seq, self.chain = state, seq, snapshot.chain
                break

    def apply(self, state: ProjectState, record: Record) -> None:
        """Change `state` by `record`, unless the plan leaves it out; ConflictError if it builds on the act."""
        entry, act = record.entry, self.plan.act.seq
        if record.seq in self.plan.skipped | self._absent:
            return
        if entry.kind in (REPLACED, REBUILT):
            raise ConflictError("later-acts", f"act {act} cannot be undone: record {record.seq} replaced the model")
        try:
            state.apply(entry.kind, record.applied_payload(), entry.at, decided=entry.outcome)
        except EvolabelError as error:
            raise ConflictError(
                "later-acts", f"act {act} cannot be undone, because record {record.seq} builds on it: {error}"
            ) from None


def undo_cost(worker: Worker, seq: int) -> Facts:
    """Return how act `seq` of the project of `worker` would be undone: the way, records to replay, and seconds."""
    with worker.reading() as connection:
        acts = find_kinds(connection, worker.project.id, UNDO_KINDS)
        return _cost(plan_undo(acts, seq), list(snapshot_seals(connection, worker.project.id)), worker.head.seq)


def acts_since(worker: Worker, since: int) -> list[Facts]:
    """Return the acts in the project of `worker` since the time `since`, newest first.

    `undo` of each is how it would be undone, None if it was undone or if later acts build on it.
    """
    with worker.reading() as connection:
        acts = find_kinds(connection, worker.project.id, UNDO_KINDS)
        seals, names = list(snapshot_seals(connection, worker.project.id)), names_of(connection)
    shown = []
    for record in reversed(acts):
        if record.entry.at < since:
            break
        if record.entry.kind in NEW_MODEL_KINDS:
            continue
        cost: Facts | None = None
        with suppress(ConflictError, UnknownError):
            cost = _cost(plan_undo(acts, record.seq), seals, worker.head.seq)
        shown.append({**shown_act(record), "person": names.get(record.entry.actor_id or 0), "undo": cost})
    return shown


def _cost(plan: UndoPlan, snapshots: list[int], head_seq: int) -> Facts:
    """Return way, records and seconds of `plan` with these `snapshots`, by their records, up to record `head_seq`."""
    if plan.way == "inverse":
        return {"way": "inverse", "records": 0, "seconds": 0}
    records = head_seq - max((seq for seq in snapshots if seq < plan.first), default=0)
    return {"way": "replay", "records": records, "seconds": ceil(records / RECORDS_A_SECOND)}


def undo_act(worker: Worker, seq: int, origin: Origin) -> Facts:
    """Undo act `seq` of the project of `worker` for `origin`, and return the record of that.

    A replay runs in the calling thread; the worker waits only for the last records.
    """
    project = worker.project.id
    with worker.reading() as connection:
        plan = plan_undo(find_kinds(connection, project, UNDO_KINDS), seq)
        if plan.way == "inverse":
            return dict(worker.call(lambda desk: undo_by_inverse(desk, seq, origin)))
        beside = UndoBeside(connection, project, plan)
    beside.catch_up(worker)
    return dict(worker.call(lambda desk: _take_over(desk, beside, origin)))


def _take_over(desk: Desk, beside: UndoBeside, origin: Origin) -> Facts:
    """Let the state on the `desk` have the learner of `beside`, and record it for `origin`."""
    plan = plan_undo(desk.of_kinds(UNDO_KINDS), beside.plan.act.seq)
    if plan[1:] != beside.plan[1:]:
        raise ConflictError("later-acts", "another act was undone in the meantime; undo this one again")
    data = beside.at_end(desk, "undo")[1]
    desk.record(UNDONE, {"seq": plan.act.seq, "way": "replay", "hash": blob_hash(data)}, origin, file=data)
    desk.snapshot = True
    return shown_act(Record(desk.seq, desk.entries[-1], b""))
