"""Databases that older versions of the program wrote: the service goes on with them, or names what reads them."""

import gzip
import logging
from pathlib import Path

import pytest
from sqlalchemy import CheckConstraint, UniqueConstraint, select, text

from evolabel.server.log import migrate
from evolabel.server.log.engines import read_url, writing_engine
from evolabel.server.log.schema import METADATA, SNAPSHOT
from evolabel.server.ops.verify import verify_database
from evolabel.server.project import operations, reading
from evolabel.server.project.service import Service
from server.pumps import ANNA, call, run, samples

FILES = Path(__file__).parent / "files"


@pytest.fixture(params=sorted(file.stem for file in FILES.glob("*.gz")))
def old(request, tmp_path):
    """Address of a database of an older version whose service was killed."""
    file = tmp_path / "old.db"
    file.write_bytes(gzip.decompress((FILES / f"{request.param}.gz").read_bytes()))
    return read_url(f"sqlite:///{file}")


def test_the_service_goes_on_from_the_snapshot_of_an_older_version(old, start, caplog):
    with caplog.at_level(logging.WARNING, "evolabel.server"):
        service = start(old)
    assert caplog.messages == []
    worker = service.workers["pumps"]
    with worker.reading() as connection:
        last = connection.scalar(select(SNAPSHOT.c.seq).order_by(SNAPSHOT.c.seq.desc()))
    shown = call(worker, reading.show_project)
    assert shown["samples"] == 101
    assert shown["open"] > 0
    assert last > 100
    assert worker.state.learner.classifier.n_rules_ > 0
    for number in list(worker.state.open):
        call(worker, operations.give_answer, number, {"leak": True, "wear": False}, ANNA)
    run(worker, [({"x": s["x"]}, y) for s, y in samples(20, seed=2)])
    assert call(worker, reading.show_project)["samples"] == 121
    service.stop()
    assert start(old).workers["pumps"].state.seen == 121


def test_tables_of_a_draft_name_the_version_that_made_them(sqlite):
    Service(sqlite).stop()
    engine = writing_engine(sqlite)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE person DROP COLUMN preferences"))
    with pytest.raises(migrate.SchemaError, match=r"person has no column preferences: .* 17 November 2026 or before"):
        Service(sqlite)
    engine.dispose()


def test_tables_are_those_of_their_version():
    """Other tables need another version with a migration; those of this one are then written out in its migration."""
    lines = [line for table in METADATA.sorted_tables for line in tables_in_words(table)]
    assert lines == (FILES / f"tables-{migrate.SCHEMA_VERSION}.txt").read_text().splitlines()


def tables_in_words(table):
    """Columns, constraints and indexes of a table, one a line."""
    for column in table.columns:
        marks = (
            ["key"] * column.primary_key
            + ["null"] * column.nullable
            + sorted(k.target_fullname for k in column.foreign_keys)
        )
        yield " ".join([f"{table.name}.{column.name}", str(column.type), *marks])
    checks = [each for each in table.constraints if isinstance(each, CheckConstraint | UniqueConstraint)]
    for each in sorted(checks, key=lambda each: str(each.name)):
        yield f"{table.name} {each.name or 'unique'}: {getattr(each, 'sqltext', [*each.columns.keys()])}"
    for index in sorted(table.indexes, key=lambda index: index.name):
        yield f"{table.name} {index.name}: {[*index.columns.keys()]}{' unique' * index.unique}"


def test_the_whole_log_of_an_older_version_can_be_applied(old):
    found = verify_database(old, from_start=True)["pumps"]
    assert found.replay.records > 200
