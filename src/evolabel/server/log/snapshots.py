"""Snapshots: the state of a project at a record of its log."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from evolabel.server.log.schema import LOG, SNAPSHOT, of_record
from evolabel.server.log.times import SECOND

KEEP_LAST = 3
KEEP_DAYS = 30
ACT = "act"
"""Reason of snapshots before an act that is undone by replay, and after an undo."""


class Snapshot(NamedTuple):
    """State at record `seq`: the file of the learner, and all else as JSON text."""

    seq: int
    chain: bytes
    checksum: str
    versions: str
    state: str
    data: bytes
    at: int
    reason: str


def insert_snapshot(connection: Connection, project_id: int, snapshot: Snapshot) -> None:
    """Insert a `snapshot` of project `project_id` through `connection`."""
    connection.execute(insert(SNAPSHOT).values(project_id=project_id, **snapshot._asdict()))


def snapshot_checksums(connection: Connection, project_id: int) -> dict[int, str]:
    """Return the checksum of each snapshot of project `project_id` by its record, oldest first.

    They are read through `connection`. Only those are returned whose chain value is that of the log.
    """
    query = (
        select(SNAPSHOT.c.seq, SNAPSHOT.c.checksum)
        .join(LOG, of_record(SNAPSHOT))
        .where(SNAPSHOT.c.project_id == project_id, SNAPSHOT.c.chain == LOG.c.chain)
        .order_by(SNAPSHOT.c.seq)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def list_snapshots(connection: Connection, project_id: int) -> list[dict[str, Any]]:
    """Return record, time, reason, checksum and bytes of each snapshot of project `project_id`, newest first.

    They are read through `connection`, without the states.
    """
    checksum, n_bytes = SNAPSHOT.c.checksum.label("checksum"), func.length(SNAPSHOT.c.data).label("bytes")
    query = select(*SNAPSHOT.c[("seq", "at", "reason")], checksum, n_bytes).where(SNAPSHOT.c.project_id == project_id)
    return [dict(row) for row in connection.execute(query.order_by(SNAPSHOT.c.seq.desc())).mappings()]


def read_snapshot(connection: Connection, project_id: int, seq: int) -> Snapshot:
    """Return the snapshot of project `project_id` at record `seq`, read through `connection`."""
    columns = [SNAPSHOT.c[name] for name in Snapshot._fields]
    row = connection.execute(select(*columns).where(SNAPSHOT.c.project_id == project_id, SNAPSHOT.c.seq == seq)).one()
    return Snapshot(*row)._replace(chain=bytes(row.chain), data=bytes(row.data))


def snapshots_of(connection: Connection, project_id: int) -> Iterator[Snapshot]:
    """Yield the snapshots of project `project_id` whose chain value is that of the log, newest first.

    They are read through `connection`.
    """
    for seq in reversed(snapshot_checksums(connection, project_id)):
        yield read_snapshot(connection, project_id, seq)


def drop_old_snapshots(connection: Connection, project_id: int, now: int) -> None:
    """Delete through `connection` the snapshots of project `project_id` that are not kept at time `now`.

    Those before acts are kept for 30 days.
    """
    query = select(SNAPSHOT.c.seq, SNAPSHOT.c.at, SNAPSHOT.c.reason).where(SNAPSHOT.c.project_id == project_id)
    rows = connection.execute(query).all()
    taken, since = {row.seq: row.at for row in rows}, _day(now) - timedelta(days=KEEP_DAYS)
    of_acts = {row.seq for row in rows if row.reason == ACT and _day(row.at) > since}
    of_rebuilds = LOG.c.project_id == project_id, LOG.c.kind == "model.rebuilt"
    rebuilt = list(connection.scalars(select(LOG.c.seq).where(*of_rebuilds)))
    if old := sorted(taken.keys() - kept_snapshots(taken, now, rebuilt) - of_acts):
        connection.execute(delete(SNAPSHOT).where(SNAPSHOT.c.project_id == project_id, SNAPSHOT.c.seq.in_(old)))


def kept_snapshots(taken: dict[int, int], now: int, rebuilt: Collection[int] = ()) -> set[int]:
    """Return the records whose snapshots are kept at time `now`; `taken` has the time of each.

    The first and the last three, the last of each of 30 days, the last of each month, and the first behind each of the
    records `rebuilt`, by which the model was made anew.
    """
    order = sorted(taken)
    behind = [taken_at for seq in rebuilt for taken_at in [s for s in order if s >= seq][:1]]
    kept = {*order[:1], *order[-KEEP_LAST:], *behind}
    since = _day(now) - timedelta(days=KEEP_DAYS)
    days, months = dict[object, int](), dict[object, int]()
    for seq in order:
        day = _day(taken[seq])
        months[day.year, day.month] = seq
        if day > since:
            days[day] = seq
    return kept | set(days.values()) | set(months.values())


def _day(at: int) -> datetime:
    """Return the beginning of the day of time `at`, in UTC."""
    return datetime.fromtimestamp(at // SECOND, UTC).replace(hour=0, minute=0, second=0)
