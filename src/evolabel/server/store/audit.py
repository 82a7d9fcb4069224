"""The audit table: who did what, when, from where. It is only added to."""

from sqlalchemy import Connection, insert

from evolabel.server.store.canonical import canonical
from evolabel.server.store.schema import AUDIT


def write_audit(
    connection: Connection, at: int, action: str, subject: str, *, actor_id: int | None = None,
    address: str | None = None, request_id: str | None = None, **detail: object,
) -> None:  # fmt: skip
    """Add through `connection` that `actor_id` did `action` to `subject` at time `at`.

    `address` and `request_id` are of the request; `detail` is stored as JSON.
    """
    values = {"at": at, "actor_id": actor_id, "action": action, "subject": subject, "detail": canonical(detail)}
    connection.execute(insert(AUDIT).values(**values, address=address, request_id=request_id))
