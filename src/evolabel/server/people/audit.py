"""The audit table: who did what, when, from where. It is only added to."""

import logging
from typing import Any

from sqlalchemy import Connection, insert, select

from evolabel.errors import EvolabelError
from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.schema import AUDIT, PERSON
from evolabel.server.log.writer import LogWriter

logger = logging.getLogger("evolabel.server")


def write_audit(
    connection: Connection, at: int, action: str, subject: str, *, actor_id: int | None = None,
    address: str | None = None, request_id: str | None = None, **detail: object,
) -> None:  # fmt: skip
    """Add through `connection` that `actor_id` did `action` to `subject` at time `at`.

    `address` and `request_id` are of the request; `detail` is stored as JSON.
    """
    values = {"at": at, "actor_id": actor_id, "action": action, "subject": subject, "detail": canonical(detail)}
    connection.execute(insert(AUDIT).values(**values, address=address, request_id=request_id))


def write_audit_or_log(writer: LogWriter, at: int, action: str, subject: str, **facts: Any) -> None:
    """Add with `writer` that `action` was done to `subject` at time `at`, with `facts` as in `write_audit`.

    Where that fails, an error in the log names what is missing.
    """
    try:
        with writer.transaction() as connection:
            write_audit(connection, at, action, subject, **facts)
    except Exception as error:  # what was done is committed already
        known = {"request_id": facts.get("request_id"), "actor": facts.get("actor_id")}
        trace = not isinstance(error, EvolabelError)
        logger.error("%r of %r is missing in the audit table: %s", action, subject, error, exc_info=trace, extra=known)


def read_audit(connection: Connection, after: int, limit: int) -> list[dict[str, Any]]:
    """Return at most `limit` entries behind number `after`, oldest first, read through `connection`."""
    query = (
        select(*AUDIT.c[("id", "at", "action", "subject", "detail", "address", "request_id")])
        .add_columns(PERSON.c.name.label("actor"))
        .outerjoin(PERSON, PERSON.c.id == AUDIT.c.actor_id)
        .where(AUDIT.c.id > after)
        .order_by(AUDIT.c.id)
        .limit(limit)
    )
    rows = (dict(row) for row in connection.execute(query).mappings())
    return [{**row, "detail": parsed(row["detail"])} for row in rows]
