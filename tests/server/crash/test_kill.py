"""kill -9 at random moments and at the named points, on both databases: see `prove` for what must hold."""

import random
import signal
import threading
import time

import pytest
from sqlalchemy import inspect

from evolabel.server.log.engines import writing_engine
from evolabel.server.log.migrate import SCHEMA_VERSION, version_of
from evolabel.server.log.writer import LogWriter
from evolabel.server.ops.maintenance import migrate_database
from server.crash.clients import Annotator, Producer, prepare
from server.crash.processes import SECONDS, ServerProcess, migrate_and_die
from server.crash.proof import prove

pytestmark = pytest.mark.posix
POINTS = ("after_apply", "in_commit", "after_commit", "in_snapshot")


def run_and_kill(url, moments, *, command=False):
    """Kill a server at each of `moments`, seconds or a named point, while clients work; return the clients."""
    people = [(f"gateway{i}", "producer") for i in range(4)] + [("anna", "annotator"), ("bob", "annotator")]
    tokens = prepare(url, people, snapshot_every=40, overlap=0.3)
    clients = [(Producer if role == "producer" else Annotator)(name, tokens[name]) for name, role in people]
    for moment in moments:
        named = isinstance(moment, str)
        server = ServerProcess(url, moment if named else "", command=command)
        gone = threading.Event()
        threads = []
        try:
            if server.wait_until_ready():
                threads = [client.start(server.port, gone) for client in clients]
                assert server.wait_until_dead(SECONDS if named else moment) == named
        finally:
            server.kill()
            gone.set()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    return clients


def moments(n, seed):
    """n moments: every second one at a named point, which is reached some times before."""
    rng = random.Random(seed)
    points = [f"{POINTS[i % len(POINTS)]}:{_times(POINTS[i % len(POINTS)], rng)}" for i in range(n)]
    return [points[i // 2] if i % 2 else rng.uniform(0.2, 1.5) for i in range(n)]


def _times(point, rng):
    return 1 if point == "in_snapshot" else rng.randint(1, 40)


def test_no_acknowledged_record_is_lost_by_a_kill(database):
    """The commit is the database's part; the other points are tried on one database each."""
    others = ["in_snapshot", 0.3] if database.get_backend_name() == "sqlite" else ["after_apply:9", "after_commit:9"]
    clients = run_and_kill(database, ["in_commit:9", *others])
    assert prove(database, clients)
    assert all(client.acknowledged for client in clients)


def test_a_kill_inside_a_migration_leaves_no_half_made_table(empty_database):
    engine = writing_engine(empty_database)
    with engine.connect():  # a SQLite file is made
        assert migrate_and_die(empty_database) == -signal.SIGKILL
    with engine.begin() as connection:
        assert inspect(connection).get_table_names() == []
    writer = LogWriter(empty_database)
    while not writer.acquire():  # PostgreSQL notices in a moment that the process is gone
        time.sleep(0.01)
    writer.close()
    assert "before None" in migrate_database(empty_database)
    with engine.begin() as connection:
        assert version_of(connection) == SCHEMA_VERSION
    engine.dispose()


@pytest.mark.slow
@pytest.mark.compiled
def test_no_acknowledged_record_is_lost_by_fifty_kills(database):
    clients = run_and_kill(database, moments(50, seed=5), command=True)
    told = prove(database, clients)
    print(f"{told} acknowledged, 0 lost")  # noqa: T201
    assert told > 1000
