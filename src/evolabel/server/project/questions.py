"""Questions: when one may be asked, when its answers are final, when it is closed; who looks at it; drafts of answers.

Decisions read no clock. While a person looks at a question, it has a lease and is not offered to others, who may answer
it nevertheless. Leases and drafts are in tables, not in the log. Leases are in memory, too: they outlive a restart, and
cost one write a batch, after its requests were answered.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select

from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.schema import DRAFT, LEASE
from evolabel.server.log.times import DAY, HOUR, SECOND
from evolabel.server.project.settings import ProjectSettings

MOST_DAYS = 7 * DAY
LATER_ANSWERS = 5  # answers of the same person after which one is final without waiting

Answers = dict[str, int | None]
"""1, 0, or None for unsure, by the name of the label."""


@dataclass
class Response:
    """What one person has answered to a question; `later` counts the answers that this person has given since."""

    person: int
    revision: int
    status: str
    answers: Answers
    at: int
    later: int = 0

    def is_final(self, now: int, settings: ProjectSettings) -> bool:
        """Return whether the response can no longer be taken back at time `now`, by these `settings`."""
        return now >= self.final_at(settings) or self.later >= LATER_ANSWERS

    def final_at(self, settings: ProjectSettings) -> int:
        """Return the time from which the response is final by these `settings`."""
        return self.at + round(settings.hold_seconds * SECOND)


@dataclass
class OpenQuestion:
    """A question that waits: number of its sample and of its pending query, labels, cost, time, responses.

    `predicted` are the labels that the model has predicted for the sample.
    """

    number: int
    pending: int
    labels: list[str]
    predicted: list[str]
    cost: int
    at: int
    needed: int
    responses: dict[int, Response] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """Return the question as JSON holds it."""
        return {**vars(self), "responses": [vars(response) for response in self.responses.values()]}

    @classmethod
    def read(cls, facts: dict[str, Any]) -> "OpenQuestion":
        """Return the question in `facts`."""
        responses = {item["person"]: Response(**item) for item in facts["responses"]}
        return cls(**{**facts, "responses": responses})


class Closing(NamedTuple):
    """Why a question is closed, and the answers that are learned then, one row per person."""

    cause: str
    rows: list[Answers]
    people: list[int]


def held_back(settings: ProjectSettings, waiting: int, asked: Iterable[int], now: int, *, paused: bool) -> str | None:
    """Return the limit in `settings` that stops a question at time `now`, or None.

    The project may be `paused`. `waiting` questions lack an answer, `asked` has the times of the last questions.
    """
    if paused:
        return "paused"
    if waiting >= settings.max_open:
        return "max_open"
    limit = settings.questions_per_hour
    if limit and sum(at > now - HOUR for at in asked) >= limit:
        return "per_hour"
    return None


def answers_needed(settings: ProjectSettings, asked_before: int) -> int:
    """Return how many people a question needs by `settings`, after `asked_before` others: one more for a share."""
    share = settings.overlap
    extra = int((asked_before + 1) * share) > int(asked_before * share)
    return settings.min_answers + extra


def closing(question: OpenQuestion, now: int, seen: int, settings: ProjectSettings) -> Closing | None:
    """Return how `question` is closed by `settings` at time `now`, after `seen` samples; None while it stays open."""
    if not question.responses and not is_expired(question, now, seen, settings):
        return None  # most questions, so they come first
    final = [response for response in question.responses.values() if response.is_final(now, settings)]
    answered = [response for response in final if response.status == "submitted"]
    if enough := first_needed(question, answered):
        return _closed("answered", enough, set())
    if not is_expired(question, now, seen, settings):
        return _closed("refused", [], set()) if len(final) >= question.needed and not answered else None
    return _closed("answered", answered, _disputed(question, answered)) if answered else _closed("expired", [], set())


def is_answered(question: OpenQuestion, now: int, settings: ProjectSettings) -> bool:
    """Return whether `question` has the final answers that it needs by `settings` at time `now`."""
    final = [r for r in question.responses.values() if r.status == "submitted" and r.is_final(now, settings)]
    return bool(first_needed(question, final))


def first_needed(question: OpenQuestion, answered: Collection[Response]) -> list[Response]:
    """Return the first of `answered` that are as many as `question` needs; empty while they are too few.

    Answers that came at the same time close a question as if they had come one after the other.
    """
    order = sorted(answered, key=lambda response: response.at)
    enough = (n for n in range(1, len(order) + 1) if n >= people_needed(question, order[:n]))
    return order[: next(enough, 0)]


def people_needed(question: OpenQuestion, responses: Collection[Response]) -> int:
    """Return how many people `question` needs: a third one where two `responses` differ."""
    return max(question.needed, 3) if _disputed(question, responses) else question.needed


def needs_another(question: OpenQuestion) -> bool:
    """Return whether `question` has a response and needs one more person."""
    answered = [response for response in question.responses.values() if response.status == "submitted"]
    needed, refused = people_needed(question, answered), len(question.responses) - len(answered)
    return bool(question.responses) and len(answered) < needed and (bool(answered) or refused < needed)


def is_expired(question: OpenQuestion, now: int, seen: int, settings: ProjectSettings) -> bool:
    """Return whether `question` has waited too long by `settings` at time `now`, after `seen` samples."""
    return seen - question.number >= settings.expire_after or now - question.at >= MOST_DAYS


def agreed_answers(rows: Collection[Answers]) -> dict[str, int]:
    """Return the answers in `rows`, one of each person, on which all agree, by label."""
    given = {name: {y for row in rows if (y := row.get(name)) is not None} for row in rows for name in row}
    return {name: values.pop() for name, values in given.items() if len(values) == 1}


def judged_answers(predicted: Collection[str], rows: Collection[Answers]) -> dict[str, dict[str, int]]:
    """Return how many answers in `rows` each label has, and how many of them agree with the labels `predicted`."""
    given = [(name, bool(y)) for row in rows for name, y in row.items() if y is not None]
    right = [name for name, y in given if y == (name in predicted)]
    return {"judged": Counter(name for name, _ in given), "right": Counter(right)}


def next_change(questions: Iterator[OpenQuestion], now: int, settings: ProjectSettings) -> int | None:
    """Return the next time after `now` at which one of `questions` changes by `settings`: final or expired."""
    times = [
        at
        for question in questions
        for at in (question.at + MOST_DAYS, *(r.final_at(settings) for r in question.responses.values()))
        if at > now
    ]
    return min(times, default=None)


def _disputed(question: OpenQuestion, answered: Collection[Response]) -> set[str]:
    """Return the asked labels on which people differ."""
    votes = {label: {r.answers.get(label) for r in answered} - {None} for label in question.labels}
    return {label for label, given in votes.items() if len(given) > 1}


def _closed(cause: str, answered: list[Response], disputed: set[str]) -> Closing:
    """Return the closing by `cause` after which all of `answered` are learned but labels in dispute."""
    rows = [{name: None if name in disputed else y for name, y in r.answers.items()} for r in answered]
    return Closing(cause, rows, [r.person for r in answered])


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
        leases = self._until.get(question.number, {})
        others = sum(until > now for other, until in leases.items() if other != person)
        return len(question.responses) + others < people_needed(question, question.responses.values())
