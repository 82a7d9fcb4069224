"""A start: projects are made ready side by side and served as soon as they are; those that are not ready are named."""

import threading
import time
from sqlite3 import ProgrammingError

import httpx
import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.log.records import LogError
from evolabel.server.log.writer import LogWriter
from evolabel.server.people.accounts import create_token
from evolabel.server.project import operations, replay, worker
from evolabel.server.project.batch import TornError
from evolabel.server.project.jobs import BusyError
from evolabel.server.project.service import Service
from server.conftest import on_sqlite
from server.crash.processes import ServerProcess
from server.pumps import ANNA, call, checksum, new_project, run, samples
from server.signed_in import add_person, browser

LONG = "/api/v1/projects/pumps"
SHORT = "/api/v1/projects/short"
SECONDS = 60


def wait_for(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def stored(database, start):
    """A database with two projects of 30 samples, and a token of an administrator."""
    service = start(database)
    service.create_project(new_project()._replace(slug="short"))
    for project in service.workers.values():
        run(project, samples(30))
    add_person(service, role="operator")
    service.stop()
    return database, create_token(database, "root", None, None, "test")


@pytest.fixture
def held(stored, monkeypatch):
    """A service that is started without waiting, the event that lets its first project go on, and a client."""
    genuine, go_on = replay.restore, threading.Event()

    def restore(connection, project_id, epoch, check):
        if project_id == 1:
            while not go_on.wait(0.01):
                check()
        return genuine(connection, project_id, epoch, check)

    monkeypatch.setattr(worker, "restore", restore)
    service = Service(stored[0])
    service.start(wait=False)
    client = TestClient(create_app(service), headers={"authorization": f"Bearer {stored[1]}"})
    wait_for(lambda: service.workers["short"].is_begun)
    yield service, go_on, client
    go_on.set()
    service.stop()


@on_sqlite
def test_ready_projects_are_served_while_another_one_is_made_ready(held):
    _, go_on, client = held
    assert client.get("/livez").status_code == 200
    refused = client.get("/readyz")
    assert refused.status_code == 503
    assert refused.json()["projects"] == {"pumps": "the model is being read from the log"}
    assert [(project["slug"], project["ready"]) for project in client.get("/api/v1/projects").json()["projects"]] == [
        ("pumps", False), ("short", True)
    ]  # fmt: skip
    for response in (client.get(LONG), client.post(f"{LONG}/samples", json={"samples": [samples(1)[0][0]]})):
        assert (response.status_code, response.json()["type"]) == (503, "/problems/starting")
        assert int(response.headers["retry-after"]) > 0
    assert client.get(SHORT).json()["samples"] == 30
    assert client.post(f"{SHORT}/samples", json={"samples": [samples(31)[30][0]]}).status_code == 200
    go_on.set()
    wait_for(lambda: client.get("/readyz").status_code == 200)
    assert client.get("/readyz").json()["projects"] == {}
    assert client.get(LONG).json()["samples"] == 30


@on_sqlite
def test_a_page_of_a_project_that_is_made_ready_says_so_and_loads_again(held):
    service, go_on, _ = held
    with service.reader.connect() as connection:
        person = connection.exec_driver_sql("SELECT id FROM person WHERE name = 'anna'").scalar()
    pages = browser(service, person)
    assert "Reads its log" in pages.get("/").text
    shown = pages.get("/p/pumps")
    assert shown.status_code == 503
    assert "The project is being made ready" in shown.text
    assert '<meta http-equiv="refresh"' in shown.text
    go_on.set()
    wait_for(lambda: pages.get("/p/pumps").status_code == 200)


@on_sqlite
def test_a_start_can_be_stopped(held):
    service, _, _ = held
    service.stop()
    assert not any(thread.name == "begin" and thread.is_alive() for thread in threading.enumerate())
    assert not service.workers["pumps"].is_begun


@on_sqlite
def test_a_project_that_cannot_be_made_is_named_with_its_error(stored, monkeypatch):
    genuine = replay.restore

    def restore(connection, project_id, *others):
        if project_id == 1:
            raise LogError("record 7 was altered; restore a backup")
        return genuine(connection, project_id, *others)

    monkeypatch.setattr(worker, "restore", restore)
    service = Service(stored[0])
    service.start()
    client = TestClient(create_app(service), headers={"authorization": f"Bearer {stored[1]}"})
    assert client.get("/readyz").json()["projects"] == {"pumps": "record 7 was altered; restore a backup"}
    refused = client.get(LONG)
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/not-served")
    assert "record 7 was altered" in refused.json()["detail"]
    assert client.get(SHORT).status_code == 200
    with pytest.raises(BusyError, match="record 7 was altered"):
        service.workers["pumps"].submit(lambda batch: None).result(10)
    service.stop()


@on_sqlite
def test_a_job_that_waits_for_a_project_that_cannot_be_made_is_refused(stored, monkeypatch):
    def restore(*others):
        job.append(service.workers["pumps"].submit(lambda batch: None))
        raise LogError("record 7 was altered; restore a backup")

    job = []
    monkeypatch.setattr(worker, "restore", restore)
    service = Service(stored[0])
    service.start()
    with pytest.raises(BusyError, match="record 7 was altered"):
        job[0].result(10)
    service.stop()


@on_sqlite
def test_a_project_that_could_not_be_made_is_tried_again_in_the_next_term(stored, monkeypatch):
    genuine = replay.restore

    def restore(connection, project_id, *others):
        if project_id == 1:
            raise KeyError("gone")
        return genuine(connection, project_id, *others)

    monkeypatch.setattr("evolabel.server.project.service._PING_SECONDS", 0.05)
    monkeypatch.setattr(worker, "restore", restore)
    service = Service(stored[0])
    service.start()
    assert service.workers["pumps"].refusal
    monkeypatch.setattr(worker, "restore", genuine)
    service.writer.close()
    try:
        wait_for(lambda: service.workers["pumps"].is_ready)
        assert not service.workers["pumps"].refusal
        assert call(service.workers["pumps"], lambda batch: batch.state.seen) == 30
    finally:
        service.stop()


def test_a_stop_during_a_recovery_finishes_the_jobs_that_were_taken(sqlite, start, monkeypatch):
    project, genuine = start(sqlite).workers["pumps"], replay.restore
    run(project, samples(3))

    def restore(*others):
        project.begin_stop()
        return genuine(*others)

    def tear(batch):
        go_on.wait(30)
        raise TornError("torn")

    monkeypatch.setattr(worker, "restore", restore)
    go_on = threading.Event()
    project.submit(lambda batch: go_on.wait(30))
    project.submit(tear)
    taken = project.submit(lambda batch: operations.send_samples(batch, [samples(4)[3][0]], ANNA))
    go_on.set()
    assert taken.result(30)["results"][0]["number"] == 4


def forget_snapshots(url):
    """Remove all snapshots, as if they had never been stored."""
    writer = LogWriter(url)
    assert writer.acquire()
    with writer.transaction() as connection:
        connection.exec_driver_sql("DELETE FROM snapshot")
    writer.close()


@on_sqlite
def test_projects_that_begin_side_by_side_have_the_states_that_they_had(database, start):
    service = start(database)
    for number in range(6):
        service.create_project(new_project()._replace(slug=f"p{number}"))
    for number, project in enumerate(service.workers.values()):
        run(project, samples(20 + number, number))
    before = {slug: checksum(project) for slug, project in service.workers.items()}
    service.stop()
    forget_snapshots(database)
    again = start(database)
    assert {slug: checksum(project) for slug, project in again.workers.items()} == before
    assert all(project.replayed > 20 for project in again.workers.values())


@pytest.mark.posix
def test_a_killed_server_serves_the_short_project_before_the_long_one(sqlite, start):
    service = start(sqlite)
    service.create_project(new_project()._replace(slug="short"))
    run(service.workers["short"], samples(10))
    for first in range(0, 4000, 500):
        sent = [{**sample, "id": f"{first}-{sample['id']}"} for sample, _ in samples(500, first)]
        call(service.workers["pumps"], operations.send_samples, sent, ANNA)
    service.stop()
    forget_snapshots(sqlite)
    token = create_token(sqlite, "root", None, None, "test")
    killed = ServerProcess(sqlite)
    assert killed.wait_until_ready("/livez")
    killed.kill()
    server = ServerProcess(sqlite)
    try:
        assert server.wait_until_ready("/livez")
        waiting = asked(server, "/readyz")
        with_token = {"authorization": f"Bearer {token}"}
        refused, short = asked(server, LONG, with_token), ask_until_ready(server, SHORT, with_token)
        still = asked(server, "/readyz")
        assert (waiting.status_code, refused.status_code) == (503, 503)
        assert refused.headers["retry-after"]
        assert short["samples"] == 10
        assert list(still.json()["projects"]) == ["pumps"]
        assert server.wait_until_ready()
        assert asked(server, LONG, with_token).json()["samples"] == 4000
    finally:
        server.kill()


def asked(server, path, headers=None):
    """Response of the server at the path."""
    return httpx.get(f"http://127.0.0.1:{server.port}{path}", headers=headers, timeout=SECONDS)


def ask_until_ready(server, path, headers):
    """Document at the path, once its project is ready."""
    wait_for(lambda: asked(server, path, headers).status_code == 200)
    return asked(server, path, headers).json()


def test_a_reader_that_ends_after_the_stop_leaves_no_connection(database, start):
    service = start(database)
    reader = service.reader.connect()
    used = reader.connection.driver_connection
    reader.execute(text("SELECT 1"))
    service.stop()
    reader.close()
    if database.get_backend_name() == "postgresql":
        assert used.closed
    else:
        with pytest.raises(ProgrammingError, match="closed"):
            used.execute("SELECT 1")
