"""Whether a project is well: its last days, and checks with their values and limits."""

import datetime
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.derive import minute_of
from evolabel.server.log.schema import LOG, PERSON, QUESTION, RESPONSE, SAMPLE
from evolabel.server.log.times import DAY, MINUTE
from evolabel.server.project.sample_rows import cells_before
from evolabel.server.project.settings import Feature, count_unseen
from evolabel.server.project.state import Facts
from evolabel.server.project.statistics import DayOfAnswers, Given, Judgement, day_of_answers, responses_of, summed

USUAL_GAPS = 10  # without a sample before it is missed
MOST_BEHIND = 20_000  # records
MOST_EXPIRED = 0.2
LONGEST_WAIT = DAY
OLDEST_BACKUP = 2 * DAY
MOST_FALL = 0.1
_SHORTEST_GAP = MINUTE
_FEWEST_ASKED = 10


class Check(NamedTuple):
    """One check: its name, whether it holds, and the values of its text."""

    name: str
    holds: bool
    values: dict[str, Any]


def check_writes(*, ready: bool) -> Check:
    """Return whether the project is `ready` to take samples."""
    return Check("writes", ready, {})


def check_arrival(last_sample: int | None, usual_gap: int | None, now: int) -> Check:
    """Return whether the `last_sample` came at most ten times the `usual_gap` before `now`, or a minute."""
    if last_sample is None or usual_gap is None:
        return Check("arrival", True, {"since": None, "gap": None})
    limit = max(USUAL_GAPS * usual_gap, _SHORTEST_GAP)
    return Check("arrival", now - last_sample <= limit, {"since": now - last_sample, "gap": usual_gap})


def check_disk(free: int | None, least: int) -> Check | None:
    """Return whether at least `least` bytes are `free`; None where it is not known."""
    return None if free is None else Check("disk", free >= least, {"free": free})


def check_backup(last: int | None, created: int, now: int) -> Check:
    """Return whether the `last` backup is at most two days old at time `now`; without one, the project `created`."""
    holds = now - (created if last is None else last) <= OLDEST_BACKUP
    return Check("backup", holds, {"since": None if last is None else now - last})


def check_snapshot(head_seq: int, snapshot_seq: int) -> Check:
    """Return whether the snapshot at `snapshot_seq` is at most 20 000 records behind `head_seq`."""
    return Check("snapshot", head_seq - snapshot_seq <= MOST_BEHIND, {"behind": head_seq - snapshot_seq})


def check_expired(causes: dict[str, int]) -> Check:
    """Return whether fewer than a fifth of the questions, counted in `causes`, expired."""
    asked = sum(causes.values())
    share = causes.get("expired", 0) / asked if asked else 0.0
    return Check("expired", asked < _FEWEST_ASKED or share < MOST_EXPIRED, {"share": share})


def check_waiting(oldest: int | None, now: int) -> Check:
    """Return whether the `oldest` question waits for less than a day at time `now`."""
    span = None if oldest is None else now - oldest
    return Check("waiting", span is None or span <= LONGEST_WAIT, {"span": span})


def check_quality(falls: Sequence[tuple[str, float]]) -> Check:
    """Return whether no label of `falls`, pairs of a label and its change, fell by more than 0.10.

    Labels with a drift mark are left out of `falls`: their fall is known.
    """
    label, change = min(falls, key=lambda fall: fall[1], default=(None, 0.0))
    return Check("quality", change >= -MOST_FALL, {"label": label, "change": change})


MOST_SAMPLES = 500
"""Samples in which unknown texts are counted."""
_MOST_CLOSED = 2000  # questions whose answers are judged
_MOST_ASKED = 500  # questions whose reasons are counted
_KINDS = ("close", "labels.late")
_STEP = 60  # minutes of a sum

_Day = tuple[datetime.date, str]  # and the name of a person
_Key = tuple[int, int]  # number of a question, person
Unseen = tuple[str, object]
"""A feature, and a text that is none of its choices."""


class LastDays(NamedTuple):
    """The last days of a project.

    `causes` count the questions that were asked and closed, `judged` are answered labels, oldest first, `reasons` why
    labels were asked and their shares, most frequent first, `unseen` counts unknown texts, `answered` is what each
    person has answered on each day, `hours` are sums as `summed` returns them.
    """

    causes: dict[str, int]
    judged: list[Judgement]
    reasons: list[tuple[str, float]]
    unseen: Counter[Unseen]
    answered: list[DayOfAnswers]
    hours: list[dict[str, int]]


class _First(NamedTuple):
    """The last record before these days, and the number of their first sample."""

    seq: int
    number: int


class _Answers:
    """What people have answered, by day, with the arguments of `RecentDays`."""

    def __init__(self, project_id: int, day: Callable[[int], datetime.date]) -> None:
        self._project_id = project_id
        self._day = day
        self._seq = 0
        self._begin = datetime.date.min
        self._given: dict[_Day, dict[_Key, Given]] = {}  # responses that stand
        self._day_of: dict[_Key, _Day] = {}
        self._counted: dict[_Day, DayOfAnswers] = {}  # of the days that have not changed since

    def forget(self, since: int) -> None:
        """Keep the days after that of the time `since`, which is not whole."""
        self._begin = self._day(since)
        self._given = {day: given for day, given in self._given.items() if day[0] > self._begin}
        self._day_of = {key: day for key, day in self._day_of.items() if day[0] > self._begin}
        self._counted = {day: counted for day, counted in self._counted.items() if day[0] > self._begin}

    def read(self, connection: Connection, record: int) -> None:
        """Read the responses behind `record` that were not read yet, through `connection`."""
        by_index = RESPONSE.c.person_id.in_(select(PERSON.c.id))  # which has the person before the record
        query = responses_of(self._project_id).where(RESPONSE.c.seq > max(self._seq, record), by_index)
        for row in connection.execute(query.order_by(RESPONSE.c.seq)):
            self._seq = row.seq
            key, day = (row.number, row.person_id), (self._day(row.at), row.display)
            if (earlier := self._day_of.pop(key, None)) is not None:
                del self._given[earlier][key]
                self._counted.pop(earlier, None)
            if row.status != "withdrawn" and day[0] > self._begin:
                self._given.setdefault(day, {})[key] = Given.of(row)
                self._day_of[key] = day
                self._counted.pop(day, None)

    def by_day(self) -> list[DayOfAnswers]:
        """Return what each person has answered on each day."""
        for day, given in self._given.items():
            if given and day not in self._counted:
                self._counted[day] = day_of_answers(given.values())
        return sorted(self._counted.values())


class RecentDays:
    """Keeps the last days of project `project_id`; `day` returns the day of a time."""

    def __init__(self, project_id: int, day: Callable[[int], datetime.date]) -> None:
        self._project_id = project_id
        self._lock = threading.Lock()
        self._is_begun = False
        self._since = -1
        self._seq = self._question = self._sample = 0  # what was read last of each
        self._first = _First(0, 1)
        self._minute = 0  # from which on sums may still change
        self._causes: dict[int, str] = {}
        self._judged: deque[list[Judgement]] = deque(maxlen=_MOST_CLOSED)
        self._reasons: deque[list[str]] = deque(maxlen=_MOST_ASKED)
        self._unseen: deque[list[Unseen]] = deque(maxlen=MOST_SAMPLES)
        self._answers = _Answers(project_id, day)
        self._hours: dict[int, dict[str, int]] = {}

    def read(self, connection: Connection, since: int, now: int, *, features: Sequence[Feature], seen: int) -> LastDays:
        """Return what is known at time `now` since the full hour `since`; what is new is read through `connection`.

        `features` are those of the project, which has `seen` so many samples.
        """
        with self._lock:
            if since != self._since:
                self._move(connection, since)
            self._read_closed(connection)
            if not self._is_begun:
                self._read_causes(connection)
            self._answers.read(connection, self._first.seq)
            self._read_reasons(connection)
            if any(feature.choices for feature in features):
                self._read_texts(connection, features, seen)
            self._read_hours(connection, since, now)
            reasons = Counter(chain.from_iterable(self._reasons))
            return LastDays(
                dict(Counter(self._causes.values())),
                [judgement for judgement in chain.from_iterable(self._judged) if judgement.at >= since],
                [(reason, n / reasons.total()) for reason, n in reasons.most_common()],
                Counter(chain.from_iterable(self._unseen)),
                self._answers.by_day(),
                [self._hours[minute] for minute in sorted(self._hours)],
            )

    def _move(self, connection: Connection, since: int) -> None:
        """Let the days begin at the time `since`, and forget what was before."""
        samples = select(SAMPLE.c.seq, SAMPLE.c.number).where(SAMPLE.c.project_id == self._project_id)
        before = samples.where(SAMPLE.c.at < since).order_by(SAMPLE.c.at.desc(), SAMPLE.c.number.desc())
        if (last := connection.execute(before.limit(1)).first()) is not None:
            self._first = _First(last.seq, last.number + 1)
        self._causes = {asked: cause for asked, cause in self._causes.items() if asked >= self._first.number}
        self._answers.forget(since)
        self._since = since

    def _read_closed(self, connection: Connection) -> None:
        """Read the records that have closed questions, at first only the newest: of the others the table is enough."""
        query = (
            select(LOG.c.seq, LOG.c.kind, LOG.c.at, LOG.c.payload, LOG.c.outcome)
            .where(LOG.c.project_id == self._project_id, LOG.c.kind.in_(_KINDS))
            .where(LOG.c.seq > max(self._seq, self._first.seq))
        )
        newest = query.order_by(LOG.c.seq.desc()).limit(_MOST_CLOSED)
        rows = connection.execute(query if self._is_begun else newest).all()
        for row in sorted(rows, key=lambda row: row.seq):
            self._seq = row.seq
            self._add_closed(row.kind, row.at, parsed(row.payload or "{}"), parsed(row.outcome))

    def _read_causes(self, connection: Connection) -> None:
        """Read why questions were closed, and begin to follow the log."""
        closed = select(QUESTION.c.number, QUESTION.c.cause).where(QUESTION.c.project_id == self._project_id)
        closed = closed.where(QUESTION.c.number >= self._first.number, QUESTION.c.cause.is_not(None))
        self._causes = {row.number: row.cause for row in connection.execute(closed)}
        self._is_begun = True

    def _add_closed(self, kind: str, at: int, payload: Facts, outcome: Facts) -> None:
        """Add a record of this `kind`, made at time `at`, if it has closed a question."""
        number = payload.get("number", 0)  # missing once late labels are in the archive
        if (kind == "close" or outcome.get("closes")) and number >= self._first.number:
            self._causes[number] = payload.get("cause", "answered")
        if kind == "close":
            right = outcome["right"]
            judged = ((label, i < right.get(label, 0)) for label, n in outcome["judged"].items() for i in range(n))
            self._judged.append([Judgement(at, *found) for found in judged])

    def _read_reasons(self, connection: Connection) -> None:
        """Read why labels were asked; a label has the first of its reasons."""
        query = (
            select(QUESTION.c.number, QUESTION.c.reasons)
            .where(QUESTION.c.project_id == self._project_id, QUESTION.c.number > self._question)
            .order_by(QUESTION.c.number.desc())
            .limit(_MOST_ASKED)
        )
        for row in connection.execute(query).all()[::-1]:
            self._question = row.number
            self._reasons.append([why[0] for why in parsed(row.reasons).values() if why])

    def _read_texts(self, connection: Connection, features: Sequence[Feature], seen: int) -> None:
        """Read the texts of the last of the `seen` samples."""
        if seen > self._sample:
            most = min(seen - self._sample, MOST_SAMPLES)
            for cells in cells_before(connection, self._project_id, seen, most):
                self._unseen.append(list(count_unseen(features, [cells]).elements()))
            self._sample = seen

    def _read_hours(self, connection: Connection, since: int, now: int) -> None:
        """Read the sums of hours; those that ended more than an hour ago are not read again."""
        begin = max(self._minute, minute_of(since))
        rows = summed(connection, self._project_id, begin * MINUTE, 2**62, _STEP)
        self._hours |= {row["minute"]: row for row in rows}
        self._hours = {minute: row for minute, row in self._hours.items() if minute >= minute_of(since)}
        self._minute = minute_of(now) // _STEP * _STEP - _STEP
