"""`TableCheck`: the tables that are made from the log, compared with it while the log is read in pieces."""

from collections import Counter
from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, func, select

from evolabel.server.log.counts import COUNT_TABLES, Counted
from evolabel.server.log.derive import INDEX_TABLES, changes
from evolabel.server.log.log import LogError, Record
from evolabel.server.log.schema import ACTIVITY, QUESTION, RESPONSE, SAMPLE

_SET_LATER = {QUESTION.name: ("closed_seq", "cause")}  # by another record than that of the row
_ARCHIVED = ("external_id", "source")  # of a sample whose payload is in the archive, only the table has these

Rows = list[dict[str, Any]]


class TableCheck:
    """Compares the rows of one project with those that its records make.

    Each row that was made is looked up by its key, and at last the rows are counted, so that none is left over. Only
    the rows of one piece of the log are in memory, and the sums of the last minute and hour.

    Parameters
    ----------
    connection : Connection
        Reads the tables.
    project_id : int
    """

    def __init__(self, connection: Connection, project_id: int) -> None:
        self._connection = connection
        self._project_id = project_id
        self._counted = Counted()
        self._made: Counter[str] = Counter()
        self._closed = 0

    def read(self, records: list[Record]) -> None:
        """Compare the rows of `records`, the next piece of the log; LogError names a table that differs."""
        change = changes(self._project_id, records)
        archived = {r.entry.outcome["number"] for r in records if r.entry.kind == "sample" and r.entry.payload is None}
        for table in INDEX_TABLES:
            self._compare(table, change.inserted[table.name], _keys(table, change.inserted[table.name]), archived)
        closed = [{"number": number, **values} for number, values in change.closed.items()]
        self._compare_closed(closed)
        for record in records:
            self._counted.add(record)
        self._compare_sums(self._counted.take_before(records[-1].entry.at))

    def finish(self) -> None:
        """Compare the last sums, and the number of rows of each table; LogError names a table that differs."""
        self._compare_sums(self._counted.take_before(None))
        for table in (*INDEX_TABLES, *COUNT_TABLES):
            self._require(self._count(table) == self._made[table.name], table)
        self._require(self._count(QUESTION, QUESTION.c.closed_seq.is_not(None)) == self._closed, QUESTION)

    def _compare(self, table: Table, made: Rows, keys: ColumnElement[bool], archived: Collection[int] = ()) -> None:
        """Compare the rows `made` with those of `table` at `keys`; numbers of samples in the archive are `archived`."""
        self._made[table.name] += len(made)
        if made:
            stored = self._connection.execute(select(table).where(table.c.project_id == self._project_id, keys))
            found = [row._asdict() for row in stored]
            self._require(_sorted(table, found, archived) == _sorted(table, made, archived), table)

    def _compare_closed(self, closed: Rows) -> None:
        """Compare the records that `closed` questions, and why, with the table of questions."""
        self._closed += len(closed)
        if closed:
            columns, numbers = QUESTION.c[tuple(closed[0])], [row["number"] for row in closed]
            query = select(*columns).where(QUESTION.c.project_id == self._project_id, QUESTION.c.number.in_(numbers))
            found = [row._asdict() for row in self._connection.execute(query)]
            self._require(_texts(found) == _texts(closed), QUESTION)

    def _compare_sums(self, counted: Counted) -> None:
        for table in COUNT_TABLES:
            made, first = counted.rows(table, self._project_id), list(table.primary_key.columns)[1]
            spans = [row[first.name] for row in made]
            self._compare(table, made, first.in_(sorted(set(spans))))

    def _count(self, table: Table, *which: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(table).where(table.c.project_id == self._project_id, *which)
        return int(self._connection.scalar(query) or 0)

    def _require(self, same: bool, table: Table) -> None:
        if not same:
            raise LogError(f"the table {table.name} differs from the log; restore a backup")


def _keys(table: Table, made: Rows) -> ColumnElement[bool]:
    """Return the condition of the rows `made` in `table`: by its key, as there is no index of their records."""
    if table is ACTIVITY:
        return ACTIVITY.c.seq.in_(sorted({row["seq"] for row in made}))
    found: ColumnElement[bool] = table.c.number.in_(sorted({row["number"] for row in made}))
    if table is RESPONSE:  # other responses to the question are in other pieces
        found &= RESPONSE.c.seq.in_([row["seq"] for row in made])
    return found


def _sorted(table: Table, rows: Rows, archived: Collection[int]) -> list[list[tuple[str, str]]]:
    """Return `rows` of `table` as texts to compare, without what is not in their own records."""
    later = _SET_LATER.get(table.name, ())
    kept = [{name: value for name, value in row.items() if name not in later} for row in rows]
    if table is SAMPLE:
        kept = [row | dict.fromkeys(_ARCHIVED) if row["number"] in archived else row for row in kept]
    return _texts(kept)


def _texts(rows: Rows) -> list[list[tuple[str, str]]]:
    return sorted(sorted((name, repr(value)) for name, value in row.items()) for row in rows)
