"""The server process: one event loop, one worker thread per project."""

import logging
import os
import socket
import sys
import time
from pathlib import Path

from sqlalchemy import URL
from threadpoolctl import threadpool_limits

from evolabel.server.app import create_app
from evolabel.server.demo import Demo
from evolabel.server.security.invites import FIRST_VALID, make_invite
from evolabel.server.service import Service
from evolabel.server.store.people import find_or_insert_person
from evolabel.server.store.visits import has_admin

_MOST_HEADERS = 64 * 1024  # bytes
_STOP_SECONDS = 10


def run_server(
    url: URL, host: str, port: int, *, tls_cert: Path | None = None, tls_key: Path | None = None,
    behind_proxy: bool = False, demo: bool = False,
) -> None:  # fmt: skip
    """Serve the database at `url` on `host` and `port` until the process is stopped.

    `tls_cert` and `tls_key` are files; `behind_proxy`: headers of a proxy on this machine are read; `demo`: a project
    is filled with samples, and a link to it is printed.
    """
    import uvicorn

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    threadpool_limits(1)  # the same bits on every start
    service = Service(url)
    service.start()
    address = f"{'http' if tls_cert is None else 'https'}://{host}:{port}"
    if demo and service.is_writer:
        Demo(service).start()
    if demo or sys.stderr.isatty():
        _print_first_link(service, address)
    app = create_app(service)

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.state.streams.stop()  # else the server waits for them
            await super().shutdown(sockets)

    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http="h11",
        h11_max_incomplete_event_size=_MOST_HEADERS,
        timeout_graceful_shutdown=_STOP_SECONDS,
        timeout_keep_alive=30,
        server_header=False,
        access_log=False,
        proxy_headers=behind_proxy,
        ssl_certfile=None if tls_cert is None else os.fspath(tls_cert),
        ssl_keyfile=None if tls_key is None else os.fspath(tls_key),
    )
    Server(config).run()


def _print_first_link(service: Service, address: str) -> None:
    """Print a one-time link of `address` for the first administrator of `service`, if there is none yet."""
    if not service.is_writer:
        return  # the server that writes has printed it
    at = time.time_ns() // 1000
    with service.pen.transaction() as connection:
        if has_admin(connection):
            sys.stderr.write(f"Sign in at {address}/sign-in\n")
            return
        person = find_or_insert_person(connection, "admin", at)
        code = make_invite(connection, person, at, admin=True, valid=FIRST_VALID)
    sys.stderr.write(f"Open this link within 15 minutes to become the administrator:\n{address}/invite/{code}\n")
