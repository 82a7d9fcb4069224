"""What an operation works with: the state, the time, the records of this batch, and those of the log."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from evolabel.server.log import projects
from evolabel.server.log.canonical import canonical, canonical_with_list, parsed
from evolabel.server.log.disk import NOT_KNOWN, Room, check_room
from evolabel.server.log.records import NewRecord, Record, find_key, find_kinds, last_seq_of, read_records, with_file
from evolabel.server.people.people import names_of
from evolabel.server.project.questions import Answers
from evolabel.server.project.state import Facts, ProjectState

RESPONSE_KINDS = ("answer", "refusal", "withdrawal", "correction")
"""Kinds of records by which people respond to questions."""


class TornError(Exception):
    """A record could not be applied, and has perhaps changed the state in part."""


@dataclass
class Origin:
    """Who has sent a request, and what makes a retry of it known.

    `actor_id` is the person, None for the service itself; `key` is the idempotency key of the request, `body_hash` the
    SHA-256 of its body. One who `sees_all` sees predictions also in a blind project.
    """

    actor_id: int | None = None
    key: str | None = None
    body_hash: bytes | None = None
    sees_all: bool = False


class RecordBatch:
    """The `state` of project `project_id` during one batch of jobs at time `now`, behind record `head_seq`.

    `log` reads what was committed before, `room` is what is left on the disk.
    """

    def __init__(
        self, project_id: int, state: ProjectState, head_seq: int, now: int, log: Connection, *, room: Room = NOT_KNOWN
    ) -> None:
        self.project_id = project_id
        self.state = state
        self.now = now
        self.entries: list[NewRecord] = []
        self.files: dict[int, bytes] = {}
        """Files that entries name by their hash, by the place of the entry; they are stored with it."""
        self.snapshot = False
        """Whether a snapshot is to follow the batch, whatever the settings are."""
        self._first = head_seq + 1
        self._log = log
        self._room = room

    @property
    def seq(self) -> int:
        """Number of the last record."""
        return self._first + len(self.entries) - 1

    def record(self, kind: str, payload: Facts, origin: Origin, part: int = 0, *, file: bytes | None = None) -> Facts:
        """Apply a checked `payload` of this `kind`, keep it for the log, and return its outcome.

        `origin` is the request, and this is its `part`. `payload` names the `file` by its hash.

        TornError if the state cannot be changed, DiskFullError if there is no room for the record.
        """
        check_room(kind, self._room)
        if kind == "sample":
            text = canonical_with_list(payload, "x")  # to be read back, it is the same but for the order of names
        else:
            text = canonical(payload)
            payload = parsed(text)  # what a replay reads
        try:
            outcome = self.state.apply(kind, with_file(payload, file), self.now)
        except Exception as error:
            raise TornError(f"{type(error).__name__}: {error}") from error
        by = origin.actor_id, origin.key, part, origin.body_hash
        if file is not None:
            self.files[len(self.entries)] = file
        self.entries.append(NewRecord(kind, payload, outcome, self.now, *by, text=text))
        return outcome

    def by_key(self, key: str) -> list[Record]:
        """Return the records of the request with this idempotency `key`, empty if there is none."""
        return [record for record in self._new() if record.entry.key == key] or find_key(
            self._log, self.project_id, key
        )

    def of_kinds(self, kinds: Collection[str]) -> list[Record]:
        """Return the records of these `kinds`, oldest first."""
        return find_kinds(self._log, self.project_id, kinds) + self._new(*kinds)

    def last_seq_of(self, kinds: Collection[str]) -> int:
        """Return the number of the last record of these `kinds`, 0 without one."""
        new = self._new(*kinds)
        return new[-1].seq if new else last_seq_of(self._log, self.project_id, kinds)

    def behind(self, seq: int, chain: bytes) -> Iterator[Record]:
        """Yield the records behind number `seq`, whose chain value is `chain`, those of this batch as well."""
        yield from read_records(self._log, self.project_id, seq, chain)
        yield from self._new()

    def by_ids(self, ids: Collection[str]) -> dict[str, Record]:
        """Return the records of samples that came with one of these `ids`."""
        new = {record.entry.payload.get("id"): record for record in self._new("sample")}
        known = {key: new[key] for key in ids if key in new}
        return known | projects.find_samples(self._log, self.project_id, [key for key in ids if key not in known])

    def sample(self, number: int) -> Record | None:
        """Return the record of sample `number`, or None."""
        new = [record for record in self._new("sample") if record.entry.outcome["number"] == number]
        return new[0] if new else projects.find_sample(self._log, self.project_id, number)

    def last_response(self, number: int, person_id: int) -> Record | None:
        """Return the record of the last response of person `person_id` to question `number`, or None."""
        responses = self._new(*RESPONSE_KINDS)
        for record in responses[::-1]:
            if record.entry.payload["number"] == number and record.entry.payload["person"] == person_id:
                return record
        return projects.last_response(self._log, self.project_id, number, person_id)

    def last_answers(self, number: int) -> dict[int, Answers]:
        """Return the last answers of each person to question `number`, by number of the person, unless taken back."""
        found = projects.last_answers(self._log, self.project_id, number)
        for record in self._new(*RESPONSE_KINDS):
            payload = record.entry.payload
            if payload["number"] == number:
                found[payload["person"]] = payload.get("answers", {})
                if record.entry.kind == "withdrawal":
                    del found[payload["person"]]
        return found

    def decided(self, number: int) -> dict[str, int]:
        """Return what experts have decided on question `number`, by label; the last decision counts."""
        found = projects.decided_answers(self._log, self.project_id, number)
        for record in self._new("decision"):
            if record.entry.payload["number"] == number:
                found |= record.entry.payload["answers"]
        return found

    def name_of(self, person_id: int) -> str:
        """Return the name by which the learner has person `person_id`."""
        return names_of(self._log).get(person_id, f"person {person_id}")

    def _new(self, *kinds: str) -> list[Record]:
        """Return the records of this batch, of these `kinds` or of all."""
        records = (Record(self._first + i, entry, b"", self.files.get(i)) for i, entry in enumerate(self.entries))
        return [record for record in records if not kinds or record.entry.kind in kinds]


def result_of(record: Record) -> dict[str, Any]:
    """Return the outcome of the `record` of a sample, as its producer receives it."""
    return sample_result(record.known_payload(), record.entry.outcome)


def sample_result(payload: Facts, outcome: Facts) -> Facts:
    """Return the `outcome` of a sample with this `payload`, as its producer receives it."""
    return {"id": payload.get("id"), **without_events(outcome)}


def without_events(outcome: Facts) -> Facts:
    """Return an `outcome` without what has changed in the rules, which is for the log."""
    return {name: value for name, value in outcome.items() if name != "events"}
