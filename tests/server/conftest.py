"""Databases, a running service and requests to it. Each test has a database for itself."""

import os
import secrets
import shutil
import ssl
import time
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache
from pathlib import Path

import pytest
from choices import first_quick

pytest.importorskip("fastapi")
pytest.importorskip("sqlalchemy")

from anyio.from_thread import start_blocking_portal
from fastapi import FastAPI
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool
from starlette.testclient import TestClient

from evolabel.server.log import engines
from evolabel.server.log.engines import read_url
from evolabel.server.log.migrate import SCHEMA_VERSION
from evolabel.server.log.schema import APPEND_ONLY, METADATA
from evolabel.server.people import passwords
from evolabel.server.project.service import Service
from server.pumps import new_project

VARIABLE = "EVOLABEL_TEST_POSTGRES_URL"
LOCAL = "postgresql://127.0.0.1:5432/test"


def postgres_server():
    """URL of a PostgreSQL server that answers; without the variable, tests are skipped where none does."""
    pytest.importorskip("psycopg")
    url = make_url(os.environ.get(VARIABLE, LOCAL)).set(drivername="postgresql+psycopg")
    engine = create_engine(url, connect_args={"connect_timeout": 2}, poolclass=NullPool)
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except Exception as error:
        if VARIABLE in os.environ:
            raise
        pytest.skip(f"no PostgreSQL server at {url.render_as_string()} ({type(error).__name__}); set {VARIABLE}")
    return url


def make_tables(url):
    service = Service(url)
    service.start()
    service.stop()


@pytest.fixture(scope="session", autouse=True)
def shared_routes():
    """What FastAPI makes of the routes is the same in all applications, and takes 100 ms for each."""
    made, include = {}, FastAPI.include_router

    def share(app, router):
        if id(router) not in made:  # routers are those of modules, which stay
            before = len(app.router.routes)
            include(app, router)
            made[id(router)] = app.router.routes[before:]
        else:
            app.router.routes.extend(made[id(router)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FastAPI, "include_router", share)
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_certificates():
    """Clients of httpx share the certificates of this machine; each would read them anew for 50 ms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_commits():
    """The settings by which commits wait for the disk, as in processes that tests start; in this one they do not."""
    with pytest.MonkeyPatch.context() as patch:
        used = engines._FLUSH
        patch.setattr(engines, "_FLUSH", {"sqlite": "synchronous=OFF", "postgresql": "synchronous_commit=off"})
        yield used


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch):
    """Hashes of passwords take few steps; `test_a_hash_costs_128_mebibytes` checks how many they take otherwise."""
    monkeypatch.setattr(passwords, "_COST", 2**4)


@contextmanager
def postgres_database():
    """URL of an empty PostgreSQL database, which is removed afterwards."""
    server, name = postgres_server(), f"evolabel_{secrets.token_hex(6)}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        yield server.set(database=name)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
EMPTY = [
    "SET LOCAL synchronous_commit = off",
    *(f"ALTER TABLE {name} DISABLE TRIGGER USER" for name in APPEND_ONLY),
    *(f"DELETE FROM {table.name}" for table in reversed(METADATA.sorted_tables)),
    *(f"ALTER TABLE {name} ENABLE TRIGGER USER" for name in APPEND_ONLY),
    f"UPDATE alembic_version SET version_num = '{SCHEMA_VERSION}'",
    "SELECT setval(format('%I', sequencename)::regclass, 1, false) FROM pg_sequences WHERE schemaname = 'public'",
]
"""Statements after which tables are as new. TRUNCATE takes thirty times as long, CREATE and DROP DATABASE longer."""


def emptied(url):
    """Whether the tables are as new again; not while anybody is connected, who could write into them later."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        end = time.monotonic() + 2
        while connection.scalar(text(OTHERS)):  # a connection that was closed is gone in a moment
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        connection.connection.driver_connection.execute(f"BEGIN; {'; '.join(EMPTY)}; COMMIT")
    return True


@pytest.fixture(scope="session")
def postgres_databases():
    """What removes databases at the end of all tests, and a list of those with empty tables that no test uses."""
    with ExitStack() as made:
        yield made, []


@pytest.fixture
def postgres(postgres_databases):
    """URL of a PostgreSQL database with empty tables: tests use it in turn, each alone."""
    made, spare = postgres_databases
    if not spare:
        spare.append(made.enter_context(postgres_database()))
        make_tables(spare[0])
    url = spare.pop()
    yield url
    if emptied(url):
        spare.append(url)


BACKENDS = ["sqlite", "postgresql"]

on_sqlite = pytest.mark.parametrize("database", first_quick(*BACKENDS), indirect=True)
"""Mark of tests whose statements others try on PostgreSQL in `make test`; `make check` runs these on both."""

on_postgres = pytest.mark.parametrize("database", ["postgresql"], indirect=True)
"""Mark of tests of what SQLite does not have."""


@pytest.fixture(params=BACKENDS)
def empty_database(request, tmp_path):
    """URL of an empty database."""
    if request.param == "sqlite":
        yield read_url(f"sqlite:///{tmp_path}/evolabel.db")
    else:
        with postgres_database() as url:
            yield url


@pytest.fixture(params=BACKENDS)
def database(request, tmp_path):
    """URL of a database without projects: of SQLite one that `start` makes, of PostgreSQL one with empty tables."""
    if request.param == "sqlite":
        return read_url(f"sqlite:///{tmp_path}/evolabel.db")
    return request.getfixturevalue("postgres")


@pytest.fixture
def sqlite(tmp_path):
    """URL of an empty SQLite database."""
    return read_url(f"sqlite:///{tmp_path}/evolabel.db")


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """Path of a SQLite database with the tables of a service and nothing in them: to copy it is quicker."""
    path = tmp_path_factory.mktemp("tables") / "evolabel.db"
    make_tables(read_url(f"sqlite:///{path}"))
    return path


@pytest.fixture
def start(tables):
    """Function that starts a service on a database; all are stopped at the end."""
    running = []

    def start(url, **settings):
        if url.get_backend_name() == "sqlite" and not Path(url.database).exists():
            shutil.copy(tables, url.database)
        service = Service(url)
        service.start()
        if "pumps" not in service.workers:
            service.create_project(new_project(**settings))
        running.append(service)
        return service

    yield start
    for service in running:
        service.stop()


@pytest.fixture(scope="session", autouse=True)
def shared_loop():
    """Clients of Starlette share one thread with an event loop; each request would start both anew."""
    with start_blocking_portal() as portal, pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestClient, "_portal_factory", lambda client: nullcontext(client.portal or portal))
        yield
