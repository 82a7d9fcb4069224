"""Agreement between people: how often two of them have given the same answer to the same label of a question.

Every label that two people have answered is one comparison of these two, whether the question is closed, waits for a
third person because they differ, or has expired. What counts is the last answer of each; unsure is no answer.
"""

from collections import Counter
from itertools import combinations, groupby
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.schema import RESPONSE
from evolabel.server.project.standing import STANDS


class Agreement(NamedTuple):
    """How many answers of a person were compared with one of another person, and how many were the same."""

    agreed: int = 0
    compared: int = 0

    @property
    def share(self) -> float | None:
        """Share of the comparisons in which both answers were the same; None without any."""
        return self.agreed / self.compared if self.compared else None


def agreements(connection: Connection, project_id: int) -> dict[int, Agreement]:
    """Return the agreement of each person in project `project_id` with the others, by number, read by `connection`."""
    of_project = RESPONSE.c.project_id == project_id
    people = func.count(RESPONSE.c.person_id.distinct())
    shared = select(RESPONSE.c.number).where(of_project).group_by(RESPONSE.c.number).having(people > 1)
    query = select(*RESPONSE.c[("number", "person_id", "answers")]).where(of_project, STANDS)
    agreed, compared = Counter[int](), Counter[int]()
    rows = connection.execute(query.where(RESPONSE.c.number.in_(shared)).order_by(RESPONSE.c.number))
    for _, group in groupby(rows, key=lambda row: row.number):
        given = [(row.person_id, parsed(row.answers)) for row in group]
        for (one, said), (other, answers) in combinations(given, 2):
            both = [name for name, y in said.items() if y is not None and answers.get(name) is not None]
            same = sum(said[name] == answers[name] for name in both)
            for person in (one, other):
                agreed[person] += same
                compared[person] += len(both)
    return {person: Agreement(agreed[person], n) for person, n in compared.items()}
