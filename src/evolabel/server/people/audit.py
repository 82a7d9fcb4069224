"""The audit table: who did what, when, from where. It is only added to."""

import logging
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from evolabel.errors import EvolabelError
from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.schema import AUDIT, PERSON
from evolabel.server.log.writer import LogWriter

logger = logging.getLogger("evolabel.server")


class Sender(NamedTuple):
    """Who has sent a request, when, and from where; None stands for what a command does not have."""

    person_id: int | None
    admin: bool
    at: int
    address: str | None = None
    request_id: str | None = None


def write_audit(connection: Connection, action: str, subject: str, sender: Sender, **detail: object) -> None:
    """Add through `connection` that `sender` did `action` to `subject`; `detail` is stored as JSON."""
    values = {"at": sender.at, "actor_id": sender.person_id, "action": action, "subject": subject}
    origin = {"address": sender.address, "request_id": sender.request_id}
    connection.execute(insert(AUDIT).values(**values, **origin, detail=canonical(detail)))


def write_audit_or_log(writer: LogWriter, action: str, subject: str, sender: Sender) -> None:
    """Add with `writer` that `sender` did `action` to `subject`; where that fails, an error in the log names it."""
    try:
        with writer.transaction() as connection:
            write_audit(connection, action, subject, sender)
    except Exception as error:  # what was done is committed already
        known = {"request_id": sender.request_id, "actor": sender.person_id}
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
