"""What an expert can do to the rules: acts, and how they are undone. Each verb checks all before it records."""

from typing import NamedTuple

from evolabel.errors import DataError, EvolabelError
from evolabel.server.log.log import Record
from evolabel.server.project.desk import Desk, Origin
from evolabel.server.project.model_records import NEW_MODEL_KINDS
from evolabel.server.project.rule_acts import RULE_KINDS, UNDONE, conditions_of, has_inverse, touched_rules, try_act
from evolabel.server.project.state import Facts
from evolabel.server.project.verbs import ConflictError, UnknownError, check_same_body

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


def act(desk: Desk, kind: str, payload: Facts, origin: Origin, last_act: int | None = None) -> Facts:
    """Record on the `desk` the act of this `kind` and `payload` by `origin`, and return it.

    `last_act` is the act after which the person has read the rules; MovedError if another one followed.
    """
    if origin.key is not None and (known := desk.by_key(origin.key)):
        check_same_body(known, origin)
        return {**shown_act(known[0]), "replayed": True}
    if last_act is not None and last_act != (now := last_act_of(desk)):
        raise MovedError(f"the rules were changed by record {now} since you have read them; read them again")
    try_act(desk.state.learner, kind, payload)
    desk.record(kind, payload, origin)
    return shown_act(Record(desk.seq, desk.entries[-1], b""))


def prepare_act(desk: Desk, kind: str, payload: Facts, origin: Origin) -> None:
    """Check an act of this `kind` and `payload`, and let a snapshot follow the batch of the `desk` if it needs one.

    An act of `origin` that is known by its key needs none.
    """
    if origin.key is not None and desk.by_key(origin.key):
        return
    try_act(desk.state.learner, kind, payload)
    desk.snapshot = desk.snapshot or kind in BY_REPLAY


def last_act_of(desk: Desk) -> int:
    """Return the number of the last record by which a person has changed the rules on the `desk`, or the model."""
    return desk.last_seq_of(UNDO_KINDS)


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
    way = "inverse" if has_inverse(plan.entry.outcome) else "replay"
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


def undo_by_inverse(desk: Desk, seq: int, origin: Origin) -> Facts:
    """Undo act `seq` on the `desk` for `origin` by its inverse, and return the record of that."""
    plan = plan_undo(desk.of_kinds(UNDO_KINDS), seq)
    if plan.way != "inverse":
        raise DataError(f"act {seq} is undone by replay, not by an inverse")
    inverse = plan.act.entry.outcome["inverse"]
    conditions = conditions_of(desk.state.learner, inverse)
    payload = {"seq": seq, "way": "inverse", "inverse": inverse, "conditions": conditions}
    try_act(desk.state.learner, UNDONE, payload)
    desk.record(UNDONE, payload, origin)
    desk.snapshot = True
    return shown_act(Record(desk.seq, desk.entries[-1], b""))
