"""Requests through the whole application, without a network."""

from fastapi.testclient import TestClient
from sqlalchemy import text

from evolabel.server.app import create_app
from evolabel.server.people.people import find_or_insert_person
from evolabel.server.people.tokens import make_token
from server.pumps import checksum, proven


def client_of(service):
    """A client of the service with the token of an administrator."""
    with service.writer.transaction() as connection:
        person = find_or_insert_person(connection, "root", 0, admin=True)
        token = make_token(connection, person, None, None, name="faults", at=0, per_minute=1_000_000)
    client = TestClient(create_app(service), raise_server_exceptions=False)
    client.headers["Authorization"] = f"Bearer {token}"
    return client


def post(client, *samples):
    """Response to samples."""
    return client.post("/api/v1/projects/pumps/samples", json={"samples": list(samples)})


def problem(response):
    """Status and type of a problem document."""
    assert response.headers["content-type"] == "application/problem+json"
    return response.status_code, response.json()["type"].removeprefix("/problems/")


def assert_memory_is_the_log(service):
    """The state of the worker is what a replay of all records gives, and the log is whole."""
    worker = service.workers["pumps"]
    now = checksum(worker)
    with service.reader.connect() as connection:
        assert proven(connection).replay.checksum == now


def count(service, query):
    """The number that a query returns."""
    with service.reader.connect() as connection:
        return connection.scalar(text(query))
