"""Payloads of old samples in files: retries, the check and a restart work without them, and they can be put back."""

import gzip
import time

import pytest
from sqlalchemy import select

from evolabel.errors import DataError
from evolabel.server.log.projects import list_projects
from evolabel.server.log.schema import LOG
from evolabel.server.log.snapshots import snapshot_checksums
from evolabel.server.log.writer import read_database
from evolabel.server.ops.maintenance import import_archives
from evolabel.server.ops.verify import verify_database, verify_project
from evolabel.server.project import operations
from evolabel.server.project.batch import Origin
from evolabel.server.project.operations import ConflictError
from evolabel.server.project.retention import archive_old
from server.conftest import on_sqlite
from server.pumps import ANNA, call, checksum, run, samples, send

NEVER = 2**60


def payloads(service, kind="sample"):
    with service.reader.connect() as connection:
        return list(connection.scalars(select(LOG.c.payload).where(LOG.c.kind == kind).order_by(LOG.c.seq)))


def take_snapshot(worker):
    """Let a snapshot follow the records so far, and wait until it is stored."""

    def operation(batch):
        batch.snapshot = True
        batch.record("paused", {}, Origin())
        batch.record("resumed", {}, Origin())
        return batch.seq

    seq = call(worker, operation)
    while True:
        with worker.reading() as connection:
            if seq in snapshot_checksums(connection, worker.project.id):
                return
        time.sleep(0.01)


@pytest.fixture
def archived(database, start, tmp_path):
    """A service whose first 40 samples are in the archive, and the file."""
    service = start(database)
    worker, stream = service.workers["pumps"], samples(60)
    run(worker, stream[:38])
    for key in ("k1", None):  # by the key of their request, and by their ids
        call(worker, operations.send_samples, [{"x": [0.1, 0.2, "M-01"]}], Origin(1, key, b"body"))
    call(worker, operations.late_labels, 3, {"leak": True, "wear": False}, ANNA)
    take_snapshot(worker)
    run(worker, stream[38:])
    assert archive_old(worker, service.writer, tmp_path / "archive", NEVER) == 1
    (file,) = (tmp_path / "archive").iterdir()
    return service, worker, file


@on_sqlite
def test_old_payloads_go_and_everything_else_stays(archived, database):
    service, worker, file = archived
    assert sum(payload is None for payload in payloads(service)) == 40
    assert payloads(service, "labels.late") == [None]
    assert send(worker, samples(60)[0][0])["number"] == 1  # a retry by id
    again = call(worker, operations.send_samples, [{"x": [0.1, 0.2, "M-01"]}], Origin(1, "k1", b"body"))
    assert (again["replayed"], again["results"][0]["number"]) == (True, 39)
    with pytest.raises(ConflictError, match="archive"):
        call(worker, operations.late_labels, 5, {"leak": True}, ANNA)
    assert archive_old(worker, service.writer, file.parent, NEVER) == 0  # there is nothing newer before a snapshot
    assert verify_database(database, replay=False)["pumps"].samples == 62
    with read_database(database) as connection:
        assert verify_project(connection, list_projects(connection)[0]).replay.records > 20


def test_a_restart_gives_the_same_state_and_payloads_can_be_put_back(archived, database, start):
    service, worker, file = archived
    before = checksum(worker)
    service.stop()
    again = start(database)
    assert checksum(again.workers["pumps"]) == before
    again.stop()
    assert list(import_archives(database, [file]).values()) == [41]
    assert import_archives(database, [file]) == {file: 0}  # they are there
    assert verify_database(database, from_start=True)["pumps"].replay.different == 0


@on_sqlite
def test_a_file_of_another_log_is_refused(archived, database):
    service, _, file = archived
    service.stop()
    other = file.with_name("other.jsonl.gz")
    other.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b'"M-01"', b'"M-02"')))
    with pytest.raises(DataError, match="another payload of record"):
        import_archives(database, [other])
    other.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read"):
        import_archives(database, [other])
    assert None in payloads(service)
