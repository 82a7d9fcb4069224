"""A database that fails: full, read-only, gone, or unsure whether it has committed."""

import re
import threading
import time
from pathlib import Path

import pytest
from choices import pairs
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from evolabel.server.log import disk
from evolabel.server.log.writer import LogWriter, NotWriterError, StoreError, store_problem
from evolabel.server.people.policies import ROUTE_POLICIES
from evolabel.server.project import operations
from evolabel.server.project import worker as worker_module
from server.conftest import on_postgres, on_sqlite
from server.faults.proxy import Proxy
from server.faults.requesting import assert_memory_is_the_log, client_of, count, post, problem
from server.pumps import ANNA, run, samples
from server.signed_in import add_person, browser


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(worker_module, "_RETRY_SECONDS", 0.02)


def send_until_taken(client, sample):
    """The responses to a sample that is sent until it is taken."""
    responses = []
    for _ in range(200):
        responses.append(post(client, sample))
        if responses[-1].status_code == 200:
            return responses
        time.sleep(0.05)  # a busy PostgreSQL holds the lock of a lost connection until it has seen its end
    raise AssertionError(responses[-1].text)


@pytest.mark.parametrize(("at", "when"), pairs([1, 2, 5], ["before", "after"]))
@on_sqlite
def test_a_commit_that_fails(database, start, monkeypatch, when, at):
    service = start(database, snapshot_every=10)
    run(service.workers["pumps"], samples(12))
    client, calls = client_of(service), []
    commit = service.writer._engine.dialect.do_commit

    def failing(connection):
        calls.append(when)
        if len(calls) == at and when == "before":
            raise OperationalError("COMMIT", {}, Exception("lost"))
        commit(connection)
        if len(calls) == at and when == "after":
            raise OperationalError("COMMIT", {}, Exception("lost"))

    monkeypatch.setattr(service.writer._engine.dialect, "do_commit", failing)
    refused = []
    for sample, _ in samples(20)[12:]:
        refused += [problem(r) for r in send_until_taken(client, sample)[:-1]]
    assert set(refused) <= {(503, "commit-unknown"), (503, "busy"), (503, "standby"), (503, "rebuilding")}
    assert len(calls) >= at
    assert count(service, "SELECT count(*) FROM sample") == 20
    assert_memory_is_the_log(service)


@pytest.fixture
def writer(sqlite):
    """The writer of a database. No service runs on it, so no other thread commits."""
    writer = LogWriter(sqlite)
    assert writer.acquire()
    yield writer
    writer.close()


def fail_to_commit(connection):
    raise OperationalError("COMMIT", {}, Exception("lost"))


def test_only_a_commit_that_was_sent_may_be_stored(writer, monkeypatch):
    with pytest.raises(StoreError) as before, writer.transaction() as connection:
        connection.execute(text("SELECT * FROM nowhere"))
    monkeypatch.setattr(writer._engine.dialect, "do_commit", fail_to_commit)
    with pytest.raises(StoreError) as at_the_end, writer.transaction() as connection:
        connection.execute(text("SELECT 1"))
    assert [store_problem(error.value)[0] for error in (before, at_the_end)] == ["busy", "commit-unknown"]


def test_a_refusal_names_the_lost_connection_or_the_other_process(writer, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(writer._engine.dialect, "do_commit", fail_to_commit)
        with pytest.raises(StoreError), writer.transaction():
            pass
    with pytest.raises(NotWriterError, match="connection to the database was lost"), writer.transaction():
        pass
    other = LogWriter(writer.url)
    assert other.acquire()
    assert not writer.acquire()
    with pytest.raises(NotWriterError, match="another process writes"), writer.transaction():
        pass
    other.close()
    assert writer.acquire()


def test_a_full_disk_refuses_and_goes_on_when_there_is_room(sqlite, start):
    service = start(sqlite)
    worker = service.workers["pumps"]
    run(worker, samples(12))
    client = client_of(service)
    pages = count(service, "PRAGMA page_count")
    with service.writer.transaction() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 1}")
    refused = None
    for i in range(500):
        response = post(client, {"id": f"f{i}", "x": {"pressure": float(i), "flow": 1.0}})
        if response.status_code != 200:
            refused = response
            break
    assert problem(refused) == (507, "disk-full")
    assert problem(post(client, {"id": "again", "x": {"pressure": 1.0}}))[0] in (503, 507)
    with service.writer.transaction() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1000000")
    send_until_taken(client, {"id": "again", "x": {"pressure": 1.0}})
    assert count(service, "SELECT count(*) FROM sample WHERE external_id = 'again'") == 1
    assert_memory_is_the_log(service)


def recoveries(service):
    return service.metrics.value("rebuilds_total", project="pumps", cause="recovery")


def test_a_full_disk_refuses_all_that_wait_without_a_try_for_each(sqlite, start):
    service = start(sqlite)
    worker = service.workers["pumps"]
    run(worker, samples(12))
    with service.writer.transaction() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count={count(service, 'PRAGMA page_count')}")
    tried, hold = recoveries(service), threading.Event()
    worker.submit(lambda batch: hold.wait(30))
    rows = [{"id": f"f{i}", "x": {"pressure": 1.0, "machine": "M-01"}} for i in range(1000)]
    waiting = [
        worker.submit(lambda batch, part=rows[i : i + 50]: operations.send_samples(batch, part, ANNA), 50)
        for i in range(0, 1000, 50)
    ]
    hold.set()
    assert {result.exception(60).type for result in waiting} == {"disk-full"}
    assert recoveries(service) - tried < 5


def test_samples_are_refused_before_answers(sqlite, start, monkeypatch):
    service = start(sqlite)
    worker = service.workers["pumps"]
    client = client_of(service)
    numbers = [post(client, s).json()["results"][0] for s, _ in samples(12)]
    first, second = [r["number"] for r in numbers if r["question"]][:2]
    answer = {"answers": {"leak": True}}
    monkeypatch.setattr(disk, "free_bytes", lambda url: 199_000_000)
    head = worker.head
    assert problem(post(client, {"id": "new", "x": {"pressure": 1.0}})) == (507, "disk-full")
    assert problem(client.put("/api/v1/projects/pumps/samples/1/labels", json={"y": {"leak": True}})) == (
        507,
        "disk-full",
    )
    assert worker.head == head
    assert post(client, samples(1)[0][0]).status_code == 200  # known: nothing is written
    assert client.put(f"/api/v1/projects/pumps/questions/{first}/answer", json=answer).status_code == 200
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(disk, "free_bytes", lambda url: 49_000_000)
    assert client.get("/readyz").status_code == 503
    assert client.get("/readyz").json()["reasons"] == [
        "disk: 49 MB are left on the disk of the service, 50 MB are needed; make room"
    ]
    assert problem(client.put(f"/api/v1/projects/pumps/questions/{second}/answer", json=answer)) == (507, "disk-full")
    monkeypatch.setattr(disk, "free_bytes", lambda url: None)
    assert client.get("/readyz").status_code == 200
    assert client.put(f"/api/v1/projects/pumps/questions/{second}/answer", json=answer).status_code == 200
    assert_memory_is_the_log(service)


def test_a_database_that_becomes_read_only(sqlite, start):
    service = start(sqlite)
    run(service.workers["pumps"], samples(12))
    client = client_of(service)
    assert client.get("/api/v1/projects").status_code == 200
    while not count(service, "SELECT COUNT(*) FROM token WHERE used IS NOT NULL"):
        time.sleep(0.01)  # another thread stores the use of the token, once a minute
    while any(thread.name == "snapshot" for thread in threading.enumerate()):
        time.sleep(0.01)  # the first snapshot is stored in a thread, too, which would meet the failure first
    with service.writer.transaction() as connection:
        connection.exec_driver_sql("PRAGMA query_only=ON")
    assert problem(post(client, {"id": "a", "x": {"pressure": 1.0}})) == (503, "busy")
    send_until_taken(client, {"id": "a", "x": {"pressure": 1.0}})
    assert_memory_is_the_log(service)


def test_a_database_that_cannot_be_opened_is_refused_at_start(sqlite, start):
    Path(sqlite.database).mkdir()
    with pytest.raises(StoreError, match="cannot be opened for writing: unable to open database file"):
        start(sqlite)


@on_postgres
def test_lost_connections_are_made_again(database, start):
    service = start(database)
    run(service.workers["pumps"], samples(12))
    client = client_of(service)
    engine = create_engine(database, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    for sample, _ in samples(16)[12:]:
        with engine.connect() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        refused = [problem(r) for r in send_until_taken(client, sample)[:-1]]
        assert {status for status, _ in refused} <= {503}
    assert count(service, "SELECT count(*) FROM sample") == 16
    assert_memory_is_the_log(service)


@pytest.fixture
def proxied(database):
    """URL of a PostgreSQL database behind a proxy, and the proxy."""
    proxy = Proxy((database.host, database.port or 5432))
    yield database.set(host="127.0.0.1", port=proxy.port), proxy
    proxy.stop()


@pytest.mark.parametrize("moment", ["before", "after"])
@on_postgres
def test_a_connection_that_is_lost_at_the_commit(proxied, start, moment):
    url, proxy = proxied
    service = start(url)
    run(service.workers["pumps"], samples(12))
    client = client_of(service)
    proxy.cut_at = moment
    refused = [problem(r) for r in send_until_taken(client, {"id": "cut", "x": {"pressure": 1.0}})[:-1]]
    assert proxy.cut_at is None
    assert {status for status, _ in refused} <= {503}
    assert count(service, "SELECT count(*) FROM sample WHERE external_id = 'cut'") == 1
    assert_memory_is_the_log(service)


@on_postgres
def test_no_request_fails_otherwise_than_by_503_while_the_database_is_gone(proxied, start):
    url, proxy = proxied
    service = start(url)
    run(service.workers["pumps"], samples(12))
    client, page = client_of(service), browser(service, add_person(service, "anna", "operator"))
    assert client.get("/api/v1/projects/pumps").status_code == 200
    proxy.stop()
    for route in ROUTE_POLICIES:
        method, path = route.split(" ")
        place = re.sub(r"{\w+}", lambda m: {"{slug}": "pumps"}.get(m[0], "1"), path)
        is_page = not path.startswith("/api")
        response = (page if is_page else client).request(method, place, **({} if is_page else {"json": {}}))
        assert response.status_code < 500 or response.status_code == 503, (route, response.text)
    proxy.start()
    send_until_taken(client, {"id": "again", "x": {"pressure": 1.0}})
    assert_memory_is_the_log(service)
