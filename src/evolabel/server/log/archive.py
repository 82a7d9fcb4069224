"""Payloads of old samples in files outside the database: written, removed from the log, and put back.

A record stays in the log with its key, its outcome, the hash of its payload and its chain value, so retries and
`evolabel serve verify` work as before. Only a replay from the first record on needs the files.
"""

import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, select, update

from evolabel.errors import DataError
from evolabel.server.log.canonical import canonical, digest, parsed
from evolabel.server.log.records import PAGE, find_kinds
from evolabel.server.log.schema import LOG, SNAPSHOT, of_record

REDACTED = "redacted"
"""Kind of the record that names an archive file."""
DATA_KINDS = ("sample", "history", "labels.late")
"""Kinds of records whose payloads go to the archive: those with the values of samples."""
MOST_RECORDS = 100_000  # of a file


class ArchiveFile(NamedTuple):
    """A file of payloads: its name, its SHA-256, and the first and last record between which they are."""

    name: str
    hash: str
    first: int
    last: int


def last_archivable(connection: Connection, project_id: int, before: int) -> int:
    """Return the record up to which payloads of project `project_id` can go: that of the last snapshot `before` a time.

    A state is made from that snapshot and what is behind it. It is read through `connection`; 0 if there is none.
    """
    query = (
        select(SNAPSHOT.c.seq)
        .join(LOG, of_record(SNAPSHOT))
        .where(SNAPSHOT.c.project_id == project_id, SNAPSHOT.c.at < before, SNAPSHOT.c.chain == LOG.c.chain)
        .order_by(SNAPSHOT.c.seq.desc())
    )
    return int(connection.scalar(query.limit(1)) or 0)


def archived_ranges(connection: Connection, project_id: int) -> list[tuple[int, int]]:
    """Return the first and last record of each archive file of project `project_id`, read through `connection`."""
    found = [record.entry.payload for record in find_kinds(connection, project_id, (REDACTED,))]
    return [(payload["first_seq"], payload["last_seq"]) for payload in found]


def write_archive(connection: Connection, project: tuple[int, str], first: int, last: int, folder: Path) -> ArchiveFile:
    """Write the payloads of records `first` to `last` of a `project`, its number and name, to a new file in `folder`.

    They are read through `connection`. The file is on the disk when the function returns.
    """
    number, slug = project
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{slug}-{first:09d}-{last:09d}.jsonl.gz"
    part = folder / f"{name}.part"
    with part.open("wb") as file:
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            packed.write(f"{canonical({'project': slug, 'first': first, 'last': last})}\n".encode())
            for seq, payload in _payloads(connection, number, first, last):
                packed.write(f'{{"payload":{payload},"seq":{seq}}}\n'.encode())
        file.flush()
        os.fsync(file.fileno())
    hashed = hashlib.sha256(part.read_bytes()).hexdigest()
    part.replace(folder / name)
    return ArchiveFile(name, hashed, first, last)


def clear_payloads(connection: Connection, project_id: int, first: int, last: int) -> None:
    """Remove through `connection` the payloads of records `first` to `last` of project `project_id`."""
    of_range = LOG.c.seq.between(first, last) & LOG.c.kind.in_(DATA_KINDS) & LOG.c.payload.is_not(None)
    connection.execute(update(LOG).where(LOG.c.project_id == project_id, of_range).values(payload=None))


def read_archive(path: Path) -> tuple[str, Iterator[tuple[int, Any]]]:
    """Return the name of the project whose payloads the file at `path` has, and numbers of records with payloads.

    DataError if it is no such file, or is cut.
    """
    lines = _lines(path)
    head = next(lines, {})
    if not isinstance(head.get("project"), str):
        raise DataError(f"{path} has no payloads of a project; give a file that `evolabel serve` wrote to its archive")
    return head["project"], ((line["seq"], line["payload"]) for line in lines)


def put_back(connection: Connection, project_id: int, rows: Iterator[tuple[int, Any]]) -> int:
    """Give records of project `project_id` their payloads in `rows` back, through `connection`; return how many.

    DataError for a payload that the record did not have; then nothing may be kept of the transaction.
    """
    n = 0
    for seq, payload in rows:
        text = canonical(payload)
        of_record = (LOG.c.project_id == project_id) & (LOG.c.seq == seq)
        if connection.scalar(select(LOG.c.payload_hash).where(of_record)) != digest(text):
            raise DataError(f"the file has another payload of record {seq} than the log had; give the file of this log")
        n += connection.execute(update(LOG).where(of_record, LOG.c.payload.is_(None)).values(payload=text)).rowcount
    return n


def _payloads(connection: Connection, project_id: int, first: int, last: int) -> Iterator[tuple[int, str]]:
    """Yield number and payload, as text, of the records of `DATA_KINDS` from `first` to `last` that have one."""
    while first <= last:
        query = select(LOG.c.seq, LOG.c.payload).where(LOG.c.project_id == project_id, LOG.c.seq.between(first, last))
        query = query.where(LOG.c.kind.in_(DATA_KINDS), LOG.c.payload.is_not(None))
        rows = connection.execute(query.order_by(LOG.c.seq).limit(PAGE)).all()
        yield from ((row.seq, row.payload) for row in rows)
        if len(rows) < PAGE:
            return
        first = rows[-1].seq + 1


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects in the packed file at `path`."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield dict(parsed(line))
    except (OSError, EOFError, ValueError, json.JSONDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}; give a file of the archive") from None
