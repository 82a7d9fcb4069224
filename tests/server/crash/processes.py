"""A service in a process of its own, which can be killed at any moment."""

import http.client
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time

SECONDS = 300  # until a server must be ready, or dead, on a busy machine

_forks = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
if os.name == "posix":
    _forks.set_forkserver_preload(["evolabel.server.run"])


class ServerProcess:
    """`evolabel serve` on a database; `die_at` is a named point, "in_commit:3" the third time it is reached.

    `stop_at` is one at which it is stopped, until it is continued. By default the process is forked from one that has
    imported everything, which saves some seconds at each start, and has the `settings` of the database; with
    `sees_disk=False` it does not look how much room is left.
    """

    def __init__(self, url, die_at="", *, stop_at="", command=False, **settings):
        self.port = free_port()
        text = url.render_as_string(hide_password=False)
        if command:
            self._process = _Command(text, self.port, die_at, stop_at)
        else:
            named = {"server": {"port": self.port}, "database": {"url": text, **settings}}
            self._process = _forks.Process(target=_serve, args=(named, die_at, stop_at), daemon=True)
            self._process.start()

    @property
    def alive(self):
        return self._process.is_alive()

    def wait_until_ready(self, path="/readyz"):
        """Whether the server answers 200 to `path`; False if its process has ended before."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if not self.alive:
                return False
            if self._is_ready(path):
                return True
            time.sleep(0.02)
        raise TimeoutError("the server was not ready in time")

    def _is_ready(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def send(self, sign):
        """Send a signal to the process."""
        os.kill(self._process.pid, sign)

    def wait_until_dead(self, seconds=SECONDS):
        """Whether the process has ended within these seconds."""
        self._process.join(seconds)
        return not self.alive

    def kill(self):
        """End the process at once, as a power cut does."""
        if self.alive:
            self.send(signal.SIGKILL)
        assert self.wait_until_dead()


class _Command:
    """The command line, with the few methods of a multiprocessing process."""

    def __init__(self, url, port, die_at, stop_at):
        command = [sys.executable, "-m", "evolabel", "serve", "--database", url, "--port", str(port)]
        environment = {**os.environ, "EVOLABEL_DIE_AT": die_at, "EVOLABEL_STOP_AT": stop_at}
        self._process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        self.pid = self._process.pid

    def is_alive(self):
        return self._process.poll() is None

    def join(self, seconds):
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return


def _serve(settings, die_at, stop_at):
    """Run the service in this process until it is killed."""
    os.environ |= {"EVOLABEL_DIE_AT": die_at, "EVOLABEL_STOP_AT": stop_at}
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    from evolabel.server.log import disk
    from evolabel.server.ops.config import ServerConfig
    from evolabel.server.run import run_server

    if not settings["database"].pop("sees_disk", True):
        disk.free_bytes = lambda url: None
    run_server(ServerConfig(**settings))


def migrate_and_die(url):
    """Migrate the database at `url` in a process that is killed inside the transaction; return its exit code."""
    process = _forks.Process(target=_migrate, args=(url.render_as_string(hide_password=False),), daemon=True)
    process.start()
    process.join(SECONDS)
    return process.exitcode


def _migrate(url):
    os.environ["EVOLABEL_DIE_AT"] = "in_migration"
    from evolabel.server.log.engines import read_url
    from evolabel.server.ops.maintenance import migrate_database

    migrate_database(read_url(url))


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
