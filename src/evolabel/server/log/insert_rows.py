"""Many rows for a table at once, passed to the driver of the database as they are."""

import functools
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table


def insert_rows(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert `rows` into `table` through `connection`; each has a value for every column.

    `connection.execute` would convert each row, which takes longer than the database itself.
    """
    connection.exec_driver_sql(_statement(table, connection.dialect.name), list(rows))


@functools.cache
def _statement(table: Table, backend: str) -> str:
    """Return the statement that inserts a row into `table`, with parameters by name as drivers of `backend` take."""
    names = [column.name for column in table.columns]
    parameters = [f":{name}" if backend == "sqlite" else f"%({name})s" for name in names]
    listed = ", ".join(f'"{name}"' for name in names)
    return f'INSERT INTO "{table.name}" ({listed}) VALUES ({", ".join(parameters)})'
