"""Leases: a question that one person looks at is not offered to others for a while. A hint, never a right.

They are in a table, not in the log, and in memory: so they outlive a restart, and cost one write a batch, after its
requests were answered. Drafts are kept in a table as well.
"""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, delete, insert, select

from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.schema import DRAFT, LEASE
from evolabel.server.log.times import DAY
from evolabel.server.project.questions import OpenQuestion, people_needed

_KEPT = 30 * DAY  # of a draft

LeaseChanges = dict[tuple[int, int], int | None]
"""The end of leases by question and person; None for a lease that has ended."""
DraftAnswers = dict[str, int | None]
"""1, 0, or None for unsure, by label; labels that are open yet are absent."""


def read_leases(connection: Connection, project_id: int) -> dict[int, dict[int, int]]:
    """Return the ends of the leases of project `project_id` by question and person, read through `connection`."""
    found: dict[int, dict[int, int]] = {}
    for row in connection.execute(select(LEASE).where(LEASE.c.project_id == project_id)):
        found.setdefault(row.number, {})[row.person_id] = row.until
    return found


def write_leases(connection: Connection, project_id: int, changed: LeaseChanges) -> None:
    """Write the leases `changed` of project `project_id` through `connection`."""
    for number, person in changed:
        connection.execute(
            delete(LEASE).where(LEASE.c.project_id == project_id, LEASE.c.number == number, LEASE.c.person_id == person)
        )
    rows = [
        {"project_id": project_id, "number": number, "person_id": person, "until": until}
        for (number, person), until in changed.items()
        if until is not None
    ]
    if rows:
        connection.execute(insert(LEASE), rows)


def store_draft(
    connection: Connection, project_id: int, number: int, person_id: int, *, answers: DraftAnswers, at: int
) -> None:
    """Keep through `connection` the `answers` that person `person_id` has chosen for question `number` at time `at`.

    They replace the draft before; drafts of project `project_id` that are older than 30 days are removed.
    """
    own = (DRAFT.c.number == number) & (DRAFT.c.person_id == person_id)
    connection.execute(delete(DRAFT).where(DRAFT.c.project_id == project_id, own | (DRAFT.c.at < at - _KEPT)))
    key = {"project_id": project_id, "number": number, "person_id": person_id}
    connection.execute(insert(DRAFT).values(**key, answers=canonical(answers), at=at))


def read_draft(connection: Connection, project_id: int, number: int, person_id: int) -> tuple[DraftAnswers, int] | None:
    """Return the draft of person `person_id` for question `number` of project `project_id` and its time, or None.

    It is read through `connection`.
    """
    query = select(DRAFT).where(DRAFT.c.project_id == project_id, DRAFT.c.number == number)
    row = connection.execute(query.where(DRAFT.c.person_id == person_id)).first()
    return None if row is None else (parsed(row.answers), row.at)


class Leases:
    """Who looks at which question, until when."""

    def __init__(self) -> None:
        self._until: dict[int, dict[int, int]] = {}
        self._changed: LeaseChanges = {}

    def restore(self, until: dict[int, dict[int, int]]) -> None:
        """Go on with leases that end at the times in `until`, by question and person."""
        self._until, self._changed = until, {}

    def take_changed(self) -> LeaseChanges:
        """Return what has changed since the last call: the end of each lease, None for one that has ended."""
        changed, self._changed = self._changed, {}
        return changed

    def renew(self, number: int, person: int, until: int) -> None:
        """Give question `number` to a `person` until a time."""
        self._until.setdefault(number, {})[person] = self._changed[number, person] = until

    def give_back(self, number: int, person: int) -> None:
        """End the lease of a `person` on question `number`."""
        if self._until.get(number, {}).pop(person, None) is not None:
            self._changed[number, person] = None

    def forget(self, open_numbers: Collection[int]) -> None:
        """Drop leases on questions that are not among `open_numbers`."""
        for number in self._until.keys() - set(open_numbers):
            self._changed |= dict.fromkeys(((number, person) for person in self._until.pop(number)), None)

    def is_taken(self, number: int, now: int) -> bool:
        """Return whether a person looks at question `number` at the time `now`."""
        return any(until > now for until in self._until.get(number, {}).values())

    def next_for(
        self, person: int, questions: Iterable[OpenQuestion], now: int, skipped: Collection[int] = ()
    ) -> OpenQuestion | None:
        """Return the freshest of `questions` that a `person` has not answered and no other person looks at, or None.

        Those in `skipped` come last. `now` is the time.
        """
        free = [question for question in questions if self._is_free(question, person, now)]
        return max(free, key=lambda question: (question.number not in skipped, question.number), default=None)

    def _is_free(self, question: OpenQuestion, person: int, now: int) -> bool:
        if person in question.responses:
            return False
        held = self._until.get(question.number, {})
        others = sum(until > now for holder, until in held.items() if holder != person)
        return len(question.responses) + others < people_needed(question, question.responses.values())
