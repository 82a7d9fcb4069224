"""A proxy in front of a database, which can cut connections at chosen moments."""

import contextlib
import socket
import threading


class Proxy:
    """Passes bytes between clients and `target`, (host, port).

    `cut_at` is None, "before" or "after": the next connection that commits is cut before the database has the COMMIT,
    or after it has carried it out.
    """

    def __init__(self, target):
        self.cut_at = None
        self._target = target
        self._open = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._accept()

    def stop(self):
        """Refuse new connections, and cut those that are open."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._open:
            _close(one)
        self._open.clear()

    def start(self):
        """Take connections again."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._accept()

    def _accept(self):
        threading.Thread(target=self._serve, args=(self._listener,), daemon=True).start()

    def _serve(self, listener):
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(self._target)
                self._open += [client, server]
                for pair in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, one, other, is_client):
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                if is_client and self.cut_at and b"COMMIT" in data:
                    moment, self.cut_at = self.cut_at, None
                    if moment == "before":
                        break
                    one.shutdown(socket.SHUT_RDWR)
                    other.sendall(data)
                    return  # the thread that waits for the response closes both
                other.sendall(data)
        _close(one)
        _close(other)


def _close(one):
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
