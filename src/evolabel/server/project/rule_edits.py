"""Edits of rules by experts, and how they are undone: by the inverse edit, or by a replay without it.

In a replay the records since before the edit are applied again, without it, beside the live model. What was asked stays
as it was; only the learner differs in the end. When the replay has caught up with the log, the worker takes over its
learner between two batches, by a record that names its bytes.
"""

from contextlib import suppress
from math import ceil
from typing import NamedTuple

from sqlalchemy import Connection

from evolabel.errors import DataError, EvolabelError
from evolabel.server.log.records import Record, find_kinds
from evolabel.server.log.snapshots import read_snapshot, snapshot_checksums
from evolabel.server.people.people import names_of
from evolabel.server.project.batch import Origin, RecordBatch
from evolabel.server.project.learner_changes import (
    NEW_MODEL_KINDS,
    REBUILT,
    REPLACED,
    RULE_KINDS,
    UNDONE,
    blob_hash,
    conditions_of,
    touched_rules,
    try_act,
)
from evolabel.server.project.operations import ConflictError, UnknownError, check_same_body
from evolabel.server.project.rebuild import RECORDS_A_SECOND, StateBeside
from evolabel.server.project.replay import find_state
from evolabel.server.project.state import Facts, ProjectState
from evolabel.server.project.worker import Worker

BY_REPLAY = ("rule.added", "rule.edited", "rule.merged", "rule.deleted")
"""Acts before which a snapshot is stored; the edit of a threshold rule adds a rule."""
UNDO_KINDS = (*RULE_KINDS, UNDONE, *NEW_MODEL_KINDS)
"""Kinds of records on which it depends how an act is undone."""

_ASPECTS = {
    "rule.edited": {"form", "name"},
    "rule.renamed": {"name"},
    "rule.locked": {"lock"},
    "rule.unlocked": {"lock"},
}
"""What an act changes of a rule; the others change all of it."""


class MovedError(EvolabelError, RuntimeError):
    """A person has changed the rules since they were read."""


class LaterActsError(ConflictError):
    """Later acts build on the one to be undone; `acts` are their numbers."""

    def __init__(self, message: str, acts: list[int]) -> None:
        super().__init__("later-acts", message)
        self.acts = acts


def act(batch: RecordBatch, kind: str, payload: Facts, origin: Origin, last_act: int | None = None) -> Facts:
    """Record in the `batch` the act of this `kind` and `payload` by `origin`, and return it.

    `last_act` is the act after which the person has read the rules; MovedError if another one followed.
    """
    if origin.key is not None and (known := batch.by_key(origin.key)):
        check_same_body(known, origin)
        return {**shown_act(known[0]), "replayed": True}
    if last_act is not None and last_act != (now := last_act_of(batch)):
        raise MovedError(f"the rules were changed by record {now} since you have read them; read them again")
    try_act(batch.state.learner, kind, payload)
    batch.record(kind, payload, origin)
    return shown_act(Record(batch.seq, batch.entries[-1], b""))


def prepare_act(batch: RecordBatch, kind: str, payload: Facts, origin: Origin) -> None:
    """Check an act of this `kind` and `payload`, and let a snapshot follow the batch of the `batch` if it needs one.

    An act of `origin` that is known by its key needs none.
    """
    if origin.key is not None and batch.by_key(origin.key):
        return
    try_act(batch.state.learner, kind, payload)
    batch.snapshot = batch.snapshot or kind in BY_REPLAY


def last_act_of(batch: RecordBatch) -> int:
    """Return the number of the last record by which a person has changed the rules in the `batch`, or the model."""
    return batch.last_seq_of(UNDO_KINDS)


def shown_act(record: Record) -> Facts:
    """Return the act of `record` as people read it."""
    entry = record.entry
    kept = {key: entry.outcome[key] for key in ("rule", "text") if key in entry.outcome}
    given = {key: value for key, value in (entry.payload or {}).items() if key in ("name", "one", "other", "way")}
    return {"seq": record.seq, "kind": entry.kind, "at": entry.at, **given, **kept}


class UndoPlan(NamedTuple):
    """How an act is undone: `way` is "inverse" or "replay"; `skipped` are records that a replay leaves out."""

    act: Record
    way: str
    first: int
    skipped: frozenset[int]


def plan_undo(acts: list[Record], seq: int) -> UndoPlan:
    """Return how act `seq` of a project is undone; `acts` are all its records of `UNDO_KINDS`, oldest first.

    UnknownError if there is no such act, ConflictError if it is undone, LaterActsError if later ones build on it or if
    the project has another model since.
    """
    found = [record for record in acts if record.seq == seq and record.entry.kind in RULE_KINDS]
    if not found:
        raise UnknownError(f"record {seq} is no act on a rule; the list of acts has their numbers")
    undone = {record.entry.payload["seq"]: record for record in acts if record.entry.kind == UNDONE}
    if seq in undone:
        raise ConflictError("already-undone", f"act {seq} was undone by record {undone[seq].seq}")
    if models := [r.seq for r in acts if r.seq > seq and r.entry.kind in NEW_MODEL_KINDS]:
        raise LaterActsError(
            f"act {seq} cannot be undone: record {models[0]} gave the project another model; edit its rules instead",
            models,
        )
    plan = found[0]
    way = "inverse" if "inverse" in plan.entry.outcome else "replay"
    later = [r for r in acts if r.seq > seq and r.entry.kind in RULE_KINDS and r.seq not in undone]
    if building := [r.seq for r in later if _builds_on(r, plan, way)]:
        numbers = ", ".join(map(str, building))
        raise LaterActsError(f"act {seq} cannot be undone alone, later acts build on it: {numbers}", building)
    first, skipped = seq, {seq} | {record.seq for record in undone.values()}
    for gone, by in sorted(undone.items(), reverse=True):
        if by.seq > first and by.entry.payload["way"] == "replay":
            first = min(first, gone)  # it is part of every snapshot in between
    skipped |= {gone for gone in undone if gone >= first}
    skipped -= {by.seq for gone, by in undone.items() if gone < first}
    return UndoPlan(plan, way, first, frozenset(skipped))


def _builds_on(later: Record, act: Record, way: str) -> bool:
    """Return whether `later` builds on what `act`, undone in this `way`, has changed, or is about a younger rule."""
    rules, before = touched_rules(later.entry.payload, later.entry.outcome), act.entry.outcome
    if way == "replay":
        return any(rule >= before["next"] or rule in touched_rules(act.entry.payload, before) for rule in rules)
    aspects = _ASPECTS.get(later.entry.kind, {"form", "name", "lock"})
    return before["rule"] in rules and bool(aspects & _ASPECTS[act.entry.kind])


def undo_by_inverse(batch: RecordBatch, seq: int, origin: Origin) -> Facts:
    """Undo act `seq` in the `batch` for `origin` by its inverse, and return the record of that."""
    plan = plan_undo(batch.of_kinds(UNDO_KINDS), seq)
    if plan.way != "inverse":
        raise DataError(f"act {seq} is undone by replay, not by an inverse")
    inverse = plan.act.entry.outcome["inverse"]
    conditions = conditions_of(batch.state.learner, inverse)
    payload = {"seq": seq, "way": "inverse", "inverse": inverse, "conditions": conditions}
    try_act(batch.state.learner, UNDONE, payload)
    batch.record(UNDONE, payload, origin)
    batch.snapshot = True
    return shown_act(Record(batch.seq, batch.entries[-1], b""))


class UndoBeside(StateBeside):
    """The state of project `project_id` from before the act of `plan` on, without it; `connection` reads the log."""

    def __init__(self, connection: Connection, project_id: int, plan: UndoPlan) -> None:
        super().__init__()
        self.plan = plan
        starts = [record.entry.payload for record in find_kinds(connection, project_id, ("epoch.started",))]
        self._absent = {seq for payload in starts for seq in payload.get("left_out", ())}
        """Acts that a start has left out, so that the live model is without them as well."""
        for seq in reversed([seq for seq in snapshot_checksums(connection, project_id) if seq < plan.first]):
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
        return _cost(plan_undo(acts, seq), list(snapshot_checksums(connection, worker.project.id)), worker.head.seq)


def acts_since(worker: Worker, since: int) -> list[Facts]:
    """Return the acts in the project of `worker` since the time `since`, newest first.

    `undo` of each is how it would be undone, None if it was undone or if later acts build on it.
    """
    with worker.reading() as connection:
        acts = find_kinds(connection, worker.project.id, UNDO_KINDS)
        checksums, names = list(snapshot_checksums(connection, worker.project.id)), names_of(connection)
    shown = []
    for record in reversed(acts):
        if record.entry.at < since:
            break
        if record.entry.kind in NEW_MODEL_KINDS:
            continue
        cost: Facts | None = None
        with suppress(ConflictError, UnknownError):
            cost = _cost(plan_undo(acts, record.seq), checksums, worker.head.seq)
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
            return dict(worker.call(lambda batch: undo_by_inverse(batch, seq, origin)))
        beside = UndoBeside(connection, project, plan)
    beside.catch_up(worker)
    return dict(worker.call(lambda batch: _take_over(batch, beside, origin)))


def _take_over(batch: RecordBatch, beside: UndoBeside, origin: Origin) -> Facts:
    """Let the state in the `batch` have the learner of `beside`, and record it for `origin`."""
    plan = plan_undo(batch.of_kinds(UNDO_KINDS), beside.plan.act.seq)
    if plan[1:] != beside.plan[1:]:
        raise ConflictError("later-acts", "another act was undone in the meantime; undo this one again")
    data = beside.at_end(batch, "undo")[1]
    batch.record(UNDONE, {"seq": plan.act.seq, "way": "replay", "hash": blob_hash(data)}, origin, file=data)
    batch.snapshot = True
    return shown_act(Record(batch.seq, batch.entries[-1], b""))
