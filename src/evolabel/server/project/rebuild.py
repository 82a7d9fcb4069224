"""A model made anew from the whole log, beside the live one: corrections count, people or labels can be left out.

What was asked stays as it was: each sample is counted with the question that it had (`ProjectState.apply`, `decided`).
Only the learner differs in the end. An act of an expert is left out if the rule it was about is another one now.
When the replay has caught up with the log, the worker takes over its learner between two batches, by a record that
names its bytes.
"""

import copy
from collections.abc import Iterable
from math import ceil
from typing import NamedTuple, Self

from sqlalchemy import Connection

from evolabel._utils.text import first_names
from evolabel.errors import DataError, EvolabelError
from evolabel.server.log.canonical import canonical
from evolabel.server.log.records import FIRST_CHAIN, Record, find_kinds, read_records
from evolabel.server.people.people import names_of
from evolabel.server.project.batch import Origin, RecordBatch
from evolabel.server.project.exports import project_columns
from evolabel.server.project.learner_changes import (
    NEW_MODEL_KINDS,
    REBUILT,
    RULE_KEYS,
    RULE_KINDS,
    UNDONE,
    blob_hash,
    present_rules,
)
from evolabel.server.project.operations import ConflictError
from evolabel.server.project.questions import Answers
from evolabel.server.project.replay import IMPORT, versions
from evolabel.server.project.state import Facts, ProjectState
from evolabel.server.project.worker import Worker

RECORDS_A_SECOND = 400
"""Records of a replay that are applied in a second, on a busy machine."""


class StateBeside:
    """A state, and how far it has come; `apply` applies a record to it."""

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

    def at_end(self, batch: RecordBatch, what: str) -> tuple[Self, bytes]:
        """Return a copy that has followed the log up to the end of the `batch`, and the bytes of its learner.

        It is a copy, because the worker asks again if another job of the batch breaks. ConflictError, named after
        `what` is done, if it has other questions or counts than the live state.
        """
        made = copy.deepcopy(self)
        made.follow(batch.behind(made.seq, made.chain))
        if made.state is None or canonical(made.state.facts()) != canonical(batch.state.facts()):
            raise ConflictError(f"{what}-differs", "the log gives other questions or counts than the live project has")
        return made, made.state.learner.to_bytes()


_CORRECTION = "correction"


class RebuildPlan(NamedTuple):
    """Why a model is made anew, and the people and labels whose answers do not count."""

    cause: str
    people: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


class Amendments:
    """What a rebuild of project `project_id` by `plan` changes in payloads, and the records that it leaves out.

    The log is read through `connection`. People and labels that an earlier rebuild has left out stay out.
    """

    def __init__(self, connection: Connection, project_id: int, plan: RebuildPlan) -> None:
        self._names = names_of(connection)
        earlier = [record.entry.payload for record in find_kinds(connection, project_id, (REBUILT,))]
        self.people = sorted({*plan.people, *(name for payload in earlier for name in payload["people"])})
        self.labels = sorted({*plan.labels, *(name for payload in earlier for name in payload["labels"])})
        if unknown := set(plan.people) - set(self._names.values()):
            raise DataError(f"there is no person {min(unknown)!r}; check the name")
        known = project_columns(connection, project_id)[1]
        if unknown := set(plan.labels) - set(known):
            raise DataError(f"there is no label {min(unknown)!r}; the labels are {first_names(known)}")
        self.corrections: dict[int, dict[str, Answers]] = {}
        for record in find_kinds(connection, project_id, (_CORRECTION,)):
            payload = record.entry.payload
            if payload is not None and (name := self._name(payload["person"])) not in self.people:
                self.corrections.setdefault(payload["number"], {})[name] = payload.get("answers", {})
        self.decided: dict[int, Answers] = {}
        for record in find_kinds(connection, project_id, ("decision",)):
            payload = record.entry.payload
            if payload is not None and self._name(payload["person"]) not in self.people:
                taught = {name: y for name, y in payload["answers"].items() if name in payload["taught"]}
                self.decided.setdefault(payload["number"], {}).update(taught)
        undone = [r for r in find_kinds(connection, project_id, (UNDONE,)) if r.entry.payload["way"] == "replay"]
        self.skipped = {seq for record in undone for seq in (record.seq, record.entry.payload["seq"])}

    def payload_of(self, record: Record, state: ProjectState) -> Facts:
        """Return the payload with which `record` is applied to `state`."""
        payload, kind = record.applied_payload(), record.entry.kind
        if kind == "close":
            return {**payload, **self._closing(payload)}
        if "of" in payload and kind == "labels.late":
            return {**payload, "y": self._taught(payload)}
        if kind in ("sample", "labels.late") and payload.get("y") is not None:
            number = state.seen + 1 if kind == "sample" else payload["number"]
            return {**payload, "y": self._labels_of(payload["y"], number, record.entry.actor_id)}
        return dict(payload)

    def history_of(self, state: ProjectState) -> list[Facts]:
        """Return the rows to which the model of `state` is fitted."""
        return [{**row, "y": self._without_labels(row["y"])} for row in state.history]

    def _closing(self, payload: Facts) -> Facts:
        """Return the rows and annotators that are learned when a question is closed by `payload`."""
        given = dict(zip(payload["annotators"], payload["rows"], strict=True))
        for name, answers in self.corrections.get(payload["number"], {}).items():
            given[name] = {**given.get(name, {}), **answers}
        decided = dict.fromkeys(self.decided.get(payload["number"], ()))
        rows = {name: {**row, **decided} for name, row in given.items()}
        kept = {name: self._without_labels(row) for name, row in rows.items() if name not in self.people}
        return {"rows": list(kept.values()), "annotators": list(kept)}

    def _taught(self, payload: Facts) -> Answers:
        """Return what a decision in `payload` teaches: the last one counts. A correction counts at its question."""
        y, last = payload["y"], self.decided.get(payload["number"], {})
        if payload["of"] != "decision" or payload["annotator"] in self.people:
            return dict.fromkeys(y)
        y = {name: value if last.get(name, value) == value else None for name, value in y.items()}
        return self._without_labels(y)

    def _labels_of(self, y: Answers, number: int, actor_id: int | None) -> Answers:
        """Return the labels `y` that person `actor_id` has sent for sample `number`, as far as they count."""
        if actor_id is not None and self._name(actor_id) in self.people:
            y = dict.fromkeys(y)
        for answers in self.corrections.get(number, {}).values():
            y = {**y, **answers}
        return self._without_labels(y)

    def _without_labels(self, answers: Answers) -> Answers:
        return {name: None if name in self.labels else value for name, value in answers.items()}

    def _name(self, person: int) -> str:
        return self._names.get(person, f"person {person}")


class RebuildBeside(StateBeside):
    """The state made from the first record on, with `amendments`."""

    def __init__(self, amendments: Amendments) -> None:
        super().__init__()
        self.amendments = amendments
        self.left_out: list[int] = []
        """Acts that did not fit the rules as they are now."""
        self._numbers: dict[int, int] = {}

    def apply(self, state: ProjectState, record: Record) -> None:
        """Change `state` by `record` as amended, unless it was taken back or is a rebuild itself."""
        if record.seq not in self.amendments.skipped and record.entry.kind != REBUILT:
            self._apply_amended(state, record)
        if record.entry.kind in NEW_MODEL_KINDS:
            self._numbers.clear()

    def _apply_amended(self, state: ProjectState, record: Record) -> None:
        entry, payload = record.entry, self.amendments.payload_of(record, state)
        if entry.kind in RULE_KINDS:
            self._act(state, record, payload)
        elif entry.kind == UNDONE:
            self._undo(state, record, payload)
        else:
            if entry.kind == "fitted":
                state.history = self.amendments.history_of(state)
            state.apply(entry.kind, payload, entry.at, decided=entry.outcome)

    def _act(self, state: ProjectState, record: Record, payload: Facts) -> None:
        """Apply the act of `record` with this `payload` to `state` if the rules that it names have its conditions."""
        entry = record.entry
        named = {key: self._number(payload[key]) for key in RULE_KEYS if key in payload}
        try:
            named = present_rules(state.learner, named, entry.outcome["conditions"])
            outcome = state.apply(entry.kind, {**payload, **named}, entry.at)
        except EvolabelError:
            self.left_out.append(record.seq)
            return
        self._numbers[entry.outcome["rule"]] = outcome["rule"]

    def _undo(self, state: ProjectState, record: Record, payload: Facts) -> None:
        """Take back an act by the inverse in the `payload` of `record`, unless the act was left out of `state`."""
        inverse = {**payload["inverse"], "rule": self._number(payload["inverse"]["rule"])}
        try:
            if payload["seq"] not in self.left_out:
                state.apply(UNDONE, {**payload, "inverse": inverse}, record.entry.at)
        except EvolabelError:
            self.left_out.append(record.seq)

    def _number(self, recorded: int) -> int:
        """Return the number that the rule with the number `recorded` in the log has here."""
        return self._numbers.get(recorded, recorded)


def rebuild_cost(worker: Worker, plan: RebuildPlan) -> Facts:
    """Return what a rebuild of the model of `worker` by `plan` takes: records, seconds, corrections that then count."""
    with worker.reading() as connection:
        amendments = Amendments(connection, worker.project.id, plan)
    records, corrected = worker.head.seq, sum(map(len, amendments.corrections.values()))
    return {"records": records, "seconds": ceil(records / RECORDS_A_SECOND), "corrections": corrected}


def rebuild_model(worker: Worker, plan: RebuildPlan, origin: Origin) -> Facts:
    """Make the model of `worker` anew by `plan` of `origin`, and return the outcome of the record of that.

    The replay runs in the calling thread; the worker waits only for the last records.
    """
    with worker.reading() as connection:
        beside = RebuildBeside(Amendments(connection, worker.project.id, plan))
    beside.catch_up(worker)
    return dict(worker.call(lambda batch: _take_over(batch, beside, plan, origin)))


def _take_over(batch: RecordBatch, beside: RebuildBeside, plan: RebuildPlan, origin: Origin) -> Facts:
    """Let the state in the `batch` have the learner of `beside`, and record it for `origin`."""
    made, data = beside.at_end(batch, "rebuild")
    payload = {
        "hash": blob_hash(data),
        "cause": plan.cause,
        "people": made.amendments.people,
        "labels": made.amendments.labels,
        "versions": versions(),
        "seq": made.seq,
        "left_out": made.left_out,
    }
    batch.snapshot = True
    return batch.record(REBUILT, payload, origin, file=data)
