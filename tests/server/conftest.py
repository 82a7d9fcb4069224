"""Databases, a running service and requests to it. Each test has a database of its own."""

import os
import secrets

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("sqlalchemy")

from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from evolabel.server.service import Service
from evolabel.server.store.engines import read_url
from server.pumps import new_project

VARIABLE = "EVOLABEL_TEST_POSTGRES_URL"
LOCAL = "postgresql://127.0.0.1:5432/test"


def postgres_server():
    """URL of a PostgreSQL server that answers, or the reason why there is none."""
    pytest.importorskip("psycopg")
    url = make_url(os.environ.get(VARIABLE, LOCAL)).set(drivername="postgresql+psycopg")
    engine = create_engine(url, connect_args={"connect_timeout": 2}, poolclass=NullPool)
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except Exception as error:
        pytest.skip(f"no PostgreSQL server at {url.render_as_string()} ({type(error).__name__}); set {VARIABLE}")
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """URL of an empty database, which is removed afterwards."""
    if request.param == "sqlite":
        yield read_url(f"sqlite:///{tmp_path}/evolabel.db")
        return
    server, name = postgres_server(), f"evolabel_{secrets.token_hex(6)}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield server.set(database=name)
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
def sqlite(tmp_path):
    """URL of an empty SQLite database."""
    return read_url(f"sqlite:///{tmp_path}/evolabel.db")


@pytest.fixture
def start(request):
    """Function that starts a service on a database; all are stopped at the end."""
    running = []

    def start(url, **settings):
        service = Service(url)
        service.start()
        if "pumps" not in service.workers:
            service.create_project(new_project(**settings))
        running.append(service)
        return service

    yield start
    for service in running:
        service.stop()
