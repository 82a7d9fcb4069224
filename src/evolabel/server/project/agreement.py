"""How far people agree, where at least two have answered the same question, and the questions on which they differ.

The answer of a person to a label is the last yes or no of that person that was not taken back; unsure is no answer,
and a decision of an expert, who has seen the answers, is none either.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.schema import DECISION, LOG, PERSON, QUESTION, RESPONSE, of_record
from evolabel.server.project.sample_rows import GivenResponse, responses_to
from evolabel.server.project.statistics import STANDS


class Agreement(NamedTuple):
    """How many answers of a person were compared with one of another person, and how many were the same."""

    agreed: int = 0
    compared: int = 0

    @property
    def share(self) -> float | None:
        """Share of the comparisons in which both answers were the same; None without any."""
        return self.agreed / self.compared if self.compared else None


class Alpha(NamedTuple):
    """Krippendorff's alpha, None where it is not defined, and how many labels of questions it was computed from."""

    alpha: float | None
    units: int


class SharedQuestion(NamedTuple):
    """A question that several people have answered: its number, and a yes or a no by label of each person."""

    number: int
    answers: dict[int, dict[str, int]]

    def by_label(self) -> dict[str, list[int]]:
        """Return all answers to each label."""
        found = defaultdict[str, list[int]](list)
        for given in self.answers.values():
            for name, y in given.items():
                found[name].append(y)
        return found

    def differ(self) -> list[str]:
        """Return the labels on which people differ."""
        return sorted(name for name, given in self.by_label().items() if len(set(given)) > 1)


class Decision(NamedTuple):
    """What an expert has decided on a question: the person, the time, a yes or a no by label, and a note."""

    person: str
    at: int
    answers: dict[str, int]
    note: str | None


class Dispute(NamedTuple):
    """A question on which people differ: the labels, those not decided, responses and decisions, first ones first."""

    number: int
    labels: list[str]
    undecided: list[str]
    open: bool
    responses: list[GivenResponse]
    decisions: list[Decision]

    def facts(self) -> dict[str, Any]:
        """Return the dispute as JSON holds it."""
        given = {
            "responses": [response.facts() for response in self.responses],
            "decisions": [decision._asdict() for decision in self.decisions],
        }
        return {**self._asdict(), **given}


def krippendorff_alpha(units: Iterable[Collection[object]]) -> Alpha:
    """Return Krippendorff's alpha of nominal values; each of `units` has the values that people gave to it.

    Units with fewer than two values do not count. Alpha is 1 minus the observed by the expected disagreement. It is not
    defined without units, or where all values are the same.

    References
    ----------
    K. Krippendorff, Computing Krippendorff's alpha-reliability, 2011.
    """
    differing, values, n_units = 0.0, Counter[object](), 0
    for unit in units:
        if (m := len(unit)) < 2:
            continue
        counts = Counter(unit)
        differing += (m * m - sum(k * k for k in counts.values())) / (m - 1)
        values += counts
        n_units += 1
    n = values.total()
    expected = n * n - sum(k * k for k in values.values())
    return Alpha(1.0 - (n - 1) * differing / expected if expected else None, n_units)


def alphas(questions: Iterable[SharedQuestion]) -> dict[str | None, Alpha]:
    """Return the alpha of each label in `questions`, by its name, and under None that of all labels together."""
    units = defaultdict[str | None, list[list[int]]](list)
    for question in questions:
        for name, given in question.by_label().items():
            units[name].append(given)
            units[None].append(given)
    return {name: krippendorff_alpha(units[name]) for name in (None, *sorted(filter(None, units)))}


def agreements(questions: Iterable[SharedQuestion]) -> dict[int, Agreement]:
    """Return the agreement of each person with the others in `questions`, by number of the person."""
    agreed, compared = Counter[int](), Counter[int]()
    for question in questions:
        for (one, mine), (other, theirs) in combinations(question.answers.items(), 2):
            both = mine.keys() & theirs.keys()
            same = sum(mine[name] == theirs[name] for name in both)
            for person in (one, other):
                agreed[person] += same
                compared[person] += len(both)
    return {person: Agreement(agreed[person], n) for person, n in compared.items()}


def shared_questions(connection: Connection, project_id: int) -> Iterator[SharedQuestion]:
    """Yield the questions of project `project_id` that several people have answered, by number.

    They are read through `connection`.
    """
    of_project = RESPONSE.c.project_id == project_id
    people = func.count(RESPONSE.c.person_id.distinct())
    shared = select(RESPONSE.c.number).where(of_project).group_by(RESPONSE.c.number).having(people > 1)
    query = select(*RESPONSE.c[("number", "person_id", "answers")]).where(of_project, STANDS)
    rows = connection.execute(query.where(RESPONSE.c.number.in_(shared)).order_by(RESPONSE.c.number))
    for number, group in groupby(rows, key=lambda row: row.number):
        given = {row.person_id: parsed(row.answers) for row in group}
        if len(given) > 1:
            yield SharedQuestion(number, {person: _known(answers) for person, answers in given.items()})


def _known(answers: dict[str, int | None]) -> dict[str, int]:
    return {name: y for name, y in answers.items() if y is not None}


def disputes(
    connection: Connection, project_id: int, questions: Iterable[SharedQuestion], limit: int,
    *, decided: bool = False, before: int | None = None,
) -> list[Dispute]:  # fmt: skip
    """Return the disputes among `questions` of project `project_id`, newest first, at most `limit`.

    They are read through `connection`: those with a label that is not `decided`, or the others; with numbers `before`
    one, if it is given.
    """
    differing = {question.number: labels for question in questions if (labels := question.differ())}
    known = {number: set[str]() for number in differing}
    for row in connection.execute(select(DECISION).where(DECISION.c.project_id == project_id)):
        if row.number in known:
            known[row.number] |= parsed(row.answers).keys()
    numbers = [
        number
        for number in sorted(differing, reverse=True)
        if (known[number] >= set(differing[number])) == decided and (before is None or number < before)
    ]
    waiting = set(
        connection.scalars(
            select(QUESTION.c.number).where(QUESTION.c.project_id == project_id, QUESTION.c.closed_seq.is_(None))
        )
    )
    return [
        Dispute(
            number,
            differing[number],
            [label for label in differing[number] if label not in known[number]],
            number in waiting,
            responses_to(connection, project_id, number),
            decisions_on(connection, project_id, number),
        )
        for number in numbers[:limit]
    ]


def decisions_on(connection: Connection, project_id: int, number: int) -> list[Decision]:
    """Return the decisions of experts on question `number` of project `project_id`, oldest first, by `connection`."""
    query = (
        select(DECISION, LOG.c.at, PERSON.c.display)
        .join(LOG, of_record(DECISION))
        .outerjoin(PERSON, PERSON.c.id == DECISION.c.person_id)
        .where(DECISION.c.project_id == project_id, DECISION.c.number == number)
        .order_by(DECISION.c.seq)
    )
    return [
        Decision(row.display or f"person {row.person_id}", row.at, parsed(row.answers), row.note)
        for row in connection.execute(query)
    ]
