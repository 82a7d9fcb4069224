"""What answers have changed, kept for 30 days. It is not in the log, and may be missing."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.schema import EFFECT

_KEPT = 30 * 24 * 3600 * 1_000_000  # microseconds


def store_effect(connection: Connection, project_id: int, number: int, values: dict[str, Any], at: int) -> None:
    """Write through `connection` what the answer to question `number` of project `project_id` changed, at time `at`.

    `values` are of, changed and labels. Those of the project that are older than 30 days are removed.
    """
    of_project = EFFECT.c.project_id == project_id
    connection.execute(delete(EFFECT).where(of_project, (EFFECT.c.number == number) | (EFFECT.c.at < at - _KEPT)))
    row = {**values, "labels": canonical(values["labels"]), "at": at}
    connection.execute(insert(EFFECT).values(project_id=project_id, number=number, **row))


def effects_of(connection: Connection, project_id: int, numbers: Collection[int]) -> dict[int, dict[str, Any]]:
    """Return what the answers to questions `numbers` of project `project_id` changed, by number, by `connection`."""
    query = select(EFFECT).where(EFFECT.c.project_id == project_id, EFFECT.c.number.in_(list(numbers)))
    return {
        row.number: {"of": row.of, "changed": row.changed, "labels": parsed(row.labels), "final": True}
        for row in connection.execute(query)
    }
