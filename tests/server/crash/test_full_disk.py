"""A disk that is really full: a small file system in memory, a server on it, clients that go on sending."""

import contextlib
import http.client
import subprocess
import threading
import time

import pytest

from evolabel.server.log.engines import read_url
from server.crash.clients import Annotator, Producer, prepare
from server.crash.processes import SECONDS, ServerProcess
from server.crash.proof import prove

pytestmark = pytest.mark.posix
PEOPLE = [*((f"gateway{i}", "producer") for i in range(4)), ("anna", "annotator")]
SIZE = 24_000_000  # bytes


@pytest.fixture
def small_disk(tmp_path):
    """Folder on a disk of 24 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk can be mounted here: {getattr(error, 'stderr', None) or error}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder):
    """Write a file that leaves no room in `folder`; return its path."""
    path = folder / "ballast"
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    return path


def wait_for(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def wait_for_work(clients, n):
    """Wait until n further requests of each client are acknowledged."""
    counts = [len(client.acknowledged) + n for client in clients]
    wait_for(lambda: all(len(c.acknowledged) >= n for c, n in zip(clients, counts, strict=True)))


def get(server, path):
    """Status of a response."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
    connection.request("GET", path)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.slow
@pytest.mark.parametrize("sees_disk", [True, False])
def test_nothing_acknowledged_is_lost_by_a_full_disk(small_disk, sees_disk):
    url = read_url(f"sqlite:///{small_disk}/evolabel.db")
    tokens = prepare(url, PEOPLE, snapshot_every=40)
    clients = [(Producer if role == "producer" else Annotator)(name, tokens[name]) for name, role in PEOPLE]
    producers, gone, refusals = clients[:-1], threading.Event(), set()
    server = ServerProcess(url, min_free_mb=1, sees_disk=sees_disk)
    try:
        assert server.wait_until_ready()
        threads = [client.start(server.port, gone) for client in clients]
        for _ in range(3):
            wait_for_work(producers, 20)
            ballast = fill(small_disk)
            for client in clients:
                client.refusals.clear()
            wait_for(lambda: all(client.refusals for client in producers))
            assert get(server, "/livez") == 200
            refusals.update(refusal for client in clients for refusal in client.refusals)
            ballast.unlink()
        assert (507, "/problems/disk-full") in refusals
        assert refusals <= {(507, "/problems/disk-full"), (503, "/problems/busy"), (503, "/problems/rebuilding")}
        wait_for_work(clients, 1)
        fill(small_disk)
    finally:
        server.kill()
        gone.set()
    for thread in threads:
        thread.join(60)
    server = ServerProcess(url, min_free_mb=1, sees_disk=sees_disk)  # on a full disk
    try:
        server.wait_until_ready("/livez")  # or it ends: there may be room in a file that was made before
    finally:
        server.kill()
    (small_disk / "ballast").unlink()
    told = prove(url, clients)
    print(f"{told} acknowledged, 0 lost")  # noqa: T201
    server = ServerProcess(url, min_free_mb=1)
    try:
        assert server.wait_until_ready()
    finally:
        server.kill()
