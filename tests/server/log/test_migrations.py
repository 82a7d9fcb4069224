"""Tables are made by migrations, up and down, and are those of the schema; commits are on the disk."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from evolabel.server.log import engines, migrate
from evolabel.server.log.engines import writing_engine
from evolabel.server.log.schema import METADATA
from evolabel.server.project.service import Service


@pytest.fixture
def engine(empty_database):
    engine = writing_engine(empty_database)
    yield engine
    engine.dispose()


def test_migrations_make_the_tables_of_the_schema(engine):
    with engine.begin() as connection:
        migrate.prepare_tables(connection)
    with engine.begin() as connection:
        assert migrate.version_of(connection) == migrate.SCHEMA_VERSION
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
        migrate.prepare_tables(connection)
        assert set(METADATA.tables) <= set(inspect(connection).get_table_names())
        if engine.dialect.name == "postgresql":
            assert connection.scalar(text("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal")) == 4


def test_a_migration_that_fails_leaves_the_tables_as_they_were(engine):
    with engine.connect() as connection:
        migrate.prepare_tables(connection)
        connection.rollback()
    with engine.begin() as connection:
        assert inspect(connection).get_table_names() == []


def test_a_commit_waits_for_the_disk(empty_database, quick_commits, monkeypatch):
    monkeypatch.setattr(engines, "_FLUSH", quick_commits)
    engine = writing_engine(empty_database)
    question, full = ("PRAGMA synchronous", 2) if engine.name == "sqlite" else ("SHOW synchronous_commit", "on")
    with engine.connect() as connection:
        assert connection.exec_driver_sql(question).scalar() == full
    engine.dispose()


def test_the_version_of_the_program_is_the_last_migration():
    assert ScriptDirectory(str(migrate._SCRIPTS)).get_current_head() == migrate.SCHEMA_VERSION


@pytest.mark.parametrize(
    ("version", "message"), [("9999", "start the newer evolabel"), ("0001", "run `evolabel serve migrate`")]
)
def test_another_version_is_refused(database, version, message, monkeypatch):
    Service(database).stop()
    engine = writing_engine(database)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
    monkeypatch.setattr(migrate, "SCHEMA_VERSION", "0002")
    with pytest.raises(migrate.SchemaError, match=message):
        Service(database)
    engine.dispose()
