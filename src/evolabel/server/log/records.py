"""The log of a project: records in a row, each hashed together with the one before it."""

import functools
import hashlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Table, func, insert, select

from evolabel.errors import EvolabelError
from evolabel.server.log.canonical import canonical, digest, parsed
from evolabel.server.log.schema import BLOB, LOG


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


def store_blob(connection: Connection, project_id: int, data: bytes, at: int) -> None:
    """Store `data` of project `project_id` at time `at` through `connection`, unless it is there."""
    key = hashlib.sha256(data).digest()
    same = (BLOB.c.project_id == project_id, BLOB.c.hash == key)
    if connection.execute(select(BLOB.c.at).where(*same)).first() is None:
        connection.execute(insert(BLOB).values(project_id=project_id, hash=key, data=data, at=at))


def read_blob(connection: Connection, project_id: int, name: str) -> bytes | None:
    """Return the file of project `project_id` whose hash is `name`, read through `connection`; None if it is gone."""
    same = (BLOB.c.project_id == project_id, BLOB.c.hash == bytes.fromhex(name))
    found = connection.scalar(select(BLOB.c.data).where(*same))
    return None if found is None or hashlib.sha256(found).hexdigest() != name else bytes(found)


FIRST_CHAIN = bytes(32)
"""Chain value before the first record."""

PAGE = 2000  # records read at once
_WITH_FILES = ("model.replaced", "model.rebuilt", "act.undone")  # kinds whose payloads can name a file


class LogError(EvolabelError, ValueError):
    """A record of the log is missing, altered or out of order; the message names its number."""


class NewRecord(NamedTuple):
    """What a request adds to the log, before it has a place in it."""

    kind: str
    payload: Any
    outcome: Any
    at: int
    actor_id: int | None = None
    key: str | None = None
    part: int = 0
    body_hash: bytes | None = None
    v: int = 1
    text: str | None = None
    """The canonical text of the payload, if it is known already."""


class Head(NamedTuple):
    """The end of a project's log: number and chain value of the last record, and the epoch of its writer."""

    seq: int
    chain: bytes
    epoch: int


class Record(NamedTuple):
    """A record that is in the log, with the file that its payload names by `hash`, if it does."""

    seq: int
    entry: NewRecord
    chain: bytes
    blob: bytes | None = None

    def known_payload(self) -> Any:
        """Return the payload; of one that is in the archive what the other columns have: the number of late labels."""
        entry = self.entry
        if entry.payload is not None:
            return entry.payload
        return {"number": int(entry.key.split(":")[1])} if entry.kind == "labels.late" and entry.key else {}

    def applied_payload(self) -> Any:
        """Return the payload as a state applies it: with the file as `data`, if there is one."""
        return with_file(self.entry.payload, self.blob)


def with_file(payload: Any, file: bytes | None) -> Any:
    """Return a `payload` as a state applies it: with the `file` that it names as `data`, if there is one."""
    return payload if file is None else {**payload, "data": file}


class Place(NamedTuple):
    """Where a record stands: the project, its number there, and the epoch of the writer."""

    project: int
    seq: int
    epoch: int


def next_chain(before: bytes, place: Place, entry: NewRecord, payload_hash: bytes, outcome: str) -> bytes:
    """Return the chain value of `entry` at `place`, after the value `before`: the hash of all its facts.

    `outcome` is the canonical text of the outcome. Only the `payload_hash` counts of the payload, so that the value
    stays true when the payload is missing.
    """
    actor = "null" if entry.actor_id is None else entry.actor_id
    body = "null" if entry.body_hash is None else f'"{entry.body_hash.hex()}"'
    key, kind = "null" if entry.key is None else canonical(entry.key), canonical(entry.kind)
    return digest(  # canonical JSON, written here because it is needed for every record
        f'{before.hex()}{{"actor":{actor},"at":{entry.at},"body":{body},"epoch":{place.epoch},"key":{key},'
        f'"kind":{kind},"outcome":{outcome},"part":{entry.part},"payload":"{payload_hash.hex()}",'
        f'"project":{place.project},"seq":{place.seq},"v":{entry.v}}}'
    )


def append(connection: Connection, project_id: int, head: Head, entries: Sequence[NewRecord]) -> Head:
    """Insert `entries` behind `head` in the log of project `project_id` through `connection`; return the new head."""
    rows, seq, chain = [], head.seq, head.chain
    for entry in entries:
        seq += 1
        payload = canonical(entry.payload) if entry.text is None else entry.text
        payload_hash, outcome = digest(payload), canonical(entry.outcome)
        chain = next_chain(chain, Place(project_id, seq, head.epoch), entry, payload_hash, outcome)
        rows.append(
            {
                "project_id": project_id,
                "seq": seq,
                "epoch": head.epoch,
                "kind": entry.kind,
                "v": entry.v,
                "at": entry.at,
                "actor_id": entry.actor_id,
                "key": entry.key,
                "part": entry.part,
                "body_hash": entry.body_hash,
                "payload": payload,
                "payload_hash": payload_hash,
                "outcome": outcome,
                "chain": chain,
            }
        )
    if rows:
        insert_rows(connection, LOG, rows)
    return Head(seq, chain, head.epoch)


def read_records(connection: Connection, project_id: int, after: int, chain: bytes) -> Iterator[Record]:
    """Yield the records of project `project_id` behind number `after`, whose chain value is `chain`, in order.

    They are read through `connection`. LogError at the first record that is missing or altered.

    The payload of a record is None if it is missing; its hash stands for it in the chain.
    """
    expected = after
    while True:
        query = select(LOG).where(LOG.c.project_id == project_id, LOG.c.seq > expected).order_by(LOG.c.seq).limit(PAGE)
        rows = connection.execute(query).all()
        for row in rows:
            expected += 1
            if row.seq != expected:
                raise LogError(f"record {expected} is missing from the log; restore a backup")
            if row.payload is not None and digest(row.payload) != row.payload_hash:
                raise LogError(f"the payload of record {row.seq} was altered; restore a backup")
            record = read_record(row)
            place = Place(project_id, row.seq, row.epoch)
            chain = next_chain(chain, place, record.entry, row.payload_hash, row.outcome)
            if chain != row.chain:
                raise LogError(f"record {row.seq} was altered, or one before it was replaced; restore a backup")
            yield _with_blob(connection, project_id, record)
        if len(rows) < PAGE:
            return


def _with_blob(connection: Connection, project_id: int, record: Record) -> Record:
    """Return `record` with the bytes of the file that its payload names by `hash`, if it does."""
    entry = record.entry
    if entry.kind not in _WITH_FILES or entry.payload is None or "hash" not in entry.payload:
        return record
    data = read_blob(connection, project_id, entry.payload["hash"])
    if data is None:
        raise LogError(f"the model file of record {record.seq} is missing or altered; restore a backup")
    return record._replace(blob=data)


def records_after(connection: Connection, project_id: int, after: int, most: int) -> list[Record]:
    """Return at most `most` records of project `project_id` behind number `after`, read through `connection`.

    The chain is not checked.
    """
    query = select(LOG).where(LOG.c.project_id == project_id, LOG.c.seq > after).order_by(LOG.c.seq).limit(most)
    return [read_record(row) for row in connection.execute(query)]


def log_line(row: Row[Any]) -> dict[str, Any]:
    """Return the record in a `row` of the table, by columns, as JSON holds it; hashes are hexadecimal."""
    facts = {name: value.hex() if isinstance(value, bytes) else value for name, value in row._asdict().items()}
    return {**facts, "payload": None if row.payload is None else parsed(row.payload), "outcome": parsed(row.outcome)}


def time_of(connection: Connection, project_id: int, seq: int) -> int:
    """Return the time of record `seq` of project `project_id`, read through `connection`; 0 if there is none."""
    found = connection.scalar(select(LOG.c.at).where(LOG.c.project_id == project_id, LOG.c.seq == seq))
    return int(found or 0)


def find_key(connection: Connection, project_id: int, key: str) -> list[Record]:
    """Return the records of the request of project `project_id` with the idempotency `key`, through `connection`."""
    query = select(LOG).where(LOG.c.project_id == project_id, LOG.c.key == key).order_by(LOG.c.part)
    return [read_record(row) for row in connection.execute(query)]


def last_of_kinds(connection: Connection, project_id: int, kinds: Collection[str]) -> Record | None:
    """Return the last record of project `project_id` of these `kinds`, read through `connection`, or None."""
    query = select(LOG).where(LOG.c.project_id == project_id, LOG.c.kind.in_(list(kinds)))
    row = connection.execute(query.order_by(LOG.c.seq.desc()).limit(1)).first()
    return None if row is None else read_record(row)


def last_seq_of(connection: Connection, project_id: int, kinds: Collection[str]) -> int:
    """Return the number of the last record of project `project_id` of these `kinds`, 0 without one.

    It is read through `connection`, without the payloads.
    """
    query = select(func.max(LOG.c.seq)).where(LOG.c.project_id == project_id, LOG.c.kind.in_(list(kinds)))
    return int(connection.scalar(query) or 0)


def find_kinds(connection: Connection, project_id: int, kinds: Collection[str]) -> list[Record]:
    """Return the records of project `project_id` of these `kinds`, oldest first, read through `connection`."""
    query = select(LOG).where(LOG.c.project_id == project_id, LOG.c.kind.in_(list(kinds)))
    return [read_record(row) for row in connection.execute(query.order_by(LOG.c.seq))]


def read_record(row: Row[Any]) -> Record:
    """Return the record in a `row` of the table."""
    payload = None if row.payload is None else parsed(row.payload)
    hashed = None if row.body_hash is None else bytes(row.body_hash)
    entry = NewRecord(
        row.kind, payload, parsed(row.outcome), row.at, row.actor_id, row.key, row.part, hashed, row.v
    )  # fmt: skip
    return Record(row.seq, entry, bytes(row.chain))
