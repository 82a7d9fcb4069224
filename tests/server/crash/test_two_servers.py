"""Two servers on one database: one writes, the other is refused or takes over."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from server.conftest import on_postgres
from server.crash.clients import Producer, prepare
from server.crash.processes import ServerProcess
from server.crash.proof import prove

pytestmark = pytest.mark.posix
PEOPLE = [("gateway0", "producer"), ("gateway1", "producer")]


@pytest.fixture
def started():
    """Function that starts a server; all are killed at the end."""
    servers = []

    def start(url, **named):
        servers.append(ServerProcess(url, **named))
        return servers[-1]

    yield start
    for server in servers:
        server.kill()


def work(client, server, n):
    """Send samples until the server has acknowledged n further ones."""
    gone, before = threading.Event(), len(client.acknowledged)
    thread = client.start(server.port, gone)
    end = time.monotonic() + 60
    while len(client.acknowledged) < before + n:
        assert time.monotonic() < end, client.refusals[-3:]
        time.sleep(0.02)
    gone.set()
    thread.join(60)


def first_problem(client, server):
    """Status and type of the problem that a sample gets."""
    gone = threading.Event()
    client.refusals.clear()
    thread = client.start(server.port, gone)
    end = time.monotonic() + 60
    while not client.refusals and time.monotonic() < end:
        time.sleep(0.02)
    gone.set()
    thread.join(60)
    return client.refusals[0]


def test_a_second_process_on_a_file_is_refused(sqlite, start):
    start(sqlite)
    command = [sys.executable, "-m", "evolabel", "serve", "--database", str(sqlite), "--port", "0"]
    second = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert second.returncode != 0
    assert f"another process serves {sqlite.database}; stop it first" in second.stderr
    assert "Traceback" not in second.stderr


def two_servers(database, started, **named):
    tokens = prepare(database, PEOPLE)
    clients = [Producer(name, tokens[name]) for name, _ in PEOPLE]
    active = started(database, **named)
    assert active.wait_until_ready()
    return active, started(database), clients


@on_postgres
def test_the_standby_takes_over_when_the_writer_dies(database, started):
    active, standby, (client, other) = two_servers(database, started)
    work(client, active, 10)
    assert first_problem(other, standby) == (503, "/problems/standby")
    active.kill()
    assert standby.wait_until_ready()
    work(client, standby, 10)
    work(other, standby, 1)
    standby.kill()
    prove(database, [client, other])


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", ["", "in_commit:9"])
@on_postgres
def test_the_standby_takes_over_when_the_writer_hangs(database, started, stop_at):
    active, standby, (client, other) = two_servers(database, started, stop_at=stop_at)
    gone = threading.Event()
    if stop_at:
        hanging = client.start(active.port, gone)  # its ninth commit is never ended
    else:
        work(client, active, 10)
        active.send(signal.SIGSTOP)
    assert standby.wait_until_ready()
    work(other, standby, 10)
    active.send(signal.SIGCONT)
    if stop_at:
        gone.set()
        hanging.join(60)
    assert first_problem(other, active) in {(503, "/problems/standby"), (503, "/problems/busy")}
    work(client, standby, 5)  # what was not acknowledged is sent again
    work(other, standby, 5)
    standby.kill()
    active.kill()
    prove(database, [client, other])
