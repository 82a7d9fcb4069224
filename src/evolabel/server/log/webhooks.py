"""Addresses to which questions, answers and events of a project are sent, and the tries to reach them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from evolabel.server.log.schema import PROJECT, WEBHOOK, WEBHOOK_TRY

MESSAGE_KINDS = ("question", "answer", "event")
"""What is sent: a question that was asked, an answer that is final, anything else that happened."""
_KEPT = 200  # tries of one address


class Webhook(NamedTuple):
    """An address of project `project_id`, called `slug`, what `kinds` it gets, and the `secret` it checks.

    All before record `seq` was sent, and `part` messages of the one behind it. After `tries` that have failed the next
    one is at `next_at`.
    """

    id: int
    project_id: int
    slug: str
    url: str
    secret: str
    kinds: tuple[str, ...]
    created: int
    seq: int
    part: int
    tries: int
    next_at: int


def insert_webhook(
    connection: Connection, project_id: int, url: str, kinds: Sequence[str], *, secret: str, at: int
) -> int:
    """Insert an address `url` of project `project_id`, for `kinds` from time `at` on, with `secret`; return its id."""
    head = connection.scalar(select(PROJECT.c.head_seq).where(PROJECT.c.id == project_id))
    values = {"project_id": project_id, "url": url, "secret": secret, "kinds": ",".join(kinds), "created": at}
    begin = {"seq": head, "part": 0, "tries": 0, "next_at": 0}
    key = connection.execute(insert(WEBHOOK).values(**values, **begin)).inserted_primary_key
    return int(key[0]) if key else 0


def list_webhooks(connection: Connection, project_id: int | None = None) -> list[Webhook]:
    """Return the addresses of project `project_id`, or of all (None), read through `connection`."""
    query = select(WEBHOOK, PROJECT.c.slug).join(PROJECT, PROJECT.c.id == WEBHOOK.c.project_id).order_by(WEBHOOK.c.id)
    if project_id is not None:
        query = query.where(WEBHOOK.c.project_id == project_id)
    return [_webhook(row) for row in connection.execute(query)]


def _webhook(row: Any) -> Webhook:
    facts = {name: getattr(row, name) for name in Webhook._fields if name != "kinds"}
    return Webhook(kinds=tuple(row.kinds.split(",")), **facts)


def delete_webhook(connection: Connection, project_id: int, webhook_id: int) -> bool:
    """Delete address `webhook_id` of project `project_id` with its tries; return whether there was one."""
    own = select(WEBHOOK.c.id).where(WEBHOOK.c.id == webhook_id, WEBHOOK.c.project_id == project_id)
    connection.execute(delete(WEBHOOK_TRY).where(WEBHOOK_TRY.c.webhook_id.in_(own)))
    done = connection.execute(delete(WEBHOOK).where(WEBHOOK.c.id.in_(own)))
    return bool(done.rowcount)


def move_webhook(connection: Connection, webhook: Webhook) -> bool:
    """Store what `webhook` has got, and its next try, through `connection`; False if it was deleted meanwhile."""
    values = {"seq": webhook.seq, "part": webhook.part, "tries": webhook.tries, "next_at": webhook.next_at}
    return bool(connection.execute(update(WEBHOOK).where(WEBHOOK.c.id == webhook.id).values(**values)).rowcount)


def keep_try(connection: Connection, webhook: Webhook, kind: str, at: int, *, status: int | None, error: str) -> None:
    """Keep that `webhook` was sent a message of this `kind` at time `at`: the `status` of its answer, or an `error`."""
    if connection.scalar(select(WEBHOOK.c.id).where(WEBHOOK.c.id == webhook.id)) is None:
        return  # it was deleted meanwhile
    values = {
        "webhook_id": webhook.id,
        "seq": webhook.seq + 1,
        "kind": kind,
        "at": at,
        "status": status,
        "error": error,
    }
    connection.execute(insert(WEBHOOK_TRY).values(**values))
    own = WEBHOOK_TRY.c.webhook_id == webhook.id
    newest = select(WEBHOOK_TRY.c.id).where(own).order_by(WEBHOOK_TRY.c.id.desc()).offset(_KEPT).limit(1)
    connection.execute(delete(WEBHOOK_TRY).where(own, WEBHOOK_TRY.c.id <= newest.scalar_subquery()))


def list_tries(connection: Connection, project_id: int, webhook_id: int, most: int = 50) -> list[dict[str, Any]]:
    """Return the last tries of address `webhook_id` of project `project_id`, newest first, at most `most`."""
    columns = WEBHOOK_TRY.c[("seq", "kind", "at", "status", "error")]
    query = select(*columns).join(WEBHOOK, WEBHOOK.c.id == WEBHOOK_TRY.c.webhook_id)
    query = query.where(WEBHOOK.c.project_id == project_id, WEBHOOK.c.id == webhook_id)
    return [dict(row) for row in connection.execute(query.order_by(WEBHOOK_TRY.c.id.desc()).limit(most)).mappings()]


def count_webhooks(connection: Connection, project_id: int) -> int:
    """Return how many addresses project `project_id` has, read through `connection`."""
    return connection.scalar(select(func.count()).select_from(WEBHOOK).where(WEBHOOK.c.project_id == project_id)) or 0
