"""The server process: one event loop, one worker thread per project."""

import logging
import socket
import sys
import warnings

from threadpoolctl import threadpool_limits

from evolabel.errors import DataWarning, ParameterError
from evolabel.server.app import create_app
from evolabel.server.http.guard import MOST_HEADERS
from evolabel.server.http.protocol import DeadlineProtocol
from evolabel.server.log.engines import read_url
from evolabel.server.log.times import MINUTE, now_us
from evolabel.server.ops.config import ServerConfig, networks
from evolabel.server.ops.demo import Demo
from evolabel.server.ops.messages import set_up_logging
from evolabel.server.people.audit import Sender
from evolabel.server.people.membership import make_invite
from evolabel.server.people.people import find_or_insert_person
from evolabel.server.people.sessions import has_admin
from evolabel.server.project.service import Service

_STOP_SECONDS = 10
_FIRST_VALID = 15 * MINUTE  # of the link that the first start prints

logger = logging.getLogger("evolabel.server")


def run_server(config: ServerConfig, *, demo: bool = False) -> None:
    """Serve with this `config` until the process is stopped.

    `demo`: a project is filled with samples, and a link to it is printed. The port is taken first, so that
    a process that cannot listen leaves the database as it is.
    """
    set_up_logging(config.log.level, config.log.format)
    threadpool_limits(1)  # the same bits on every start
    warnings.simplefilter("ignore", DataWarning)  # what is odd about a sample is in its outcome
    url = read_url(config.database.url)
    listener = take_port(config.server.host, config.server.port)
    if demo:
        sys.stderr.write("Starting. The first start compiles for up to a minute, then a link is printed.\n")
    try:
        service = Service(
            url,
            limits=config.service_limits(),
            checkpoint=config.database.checkpoint == "own",
            retention=config.retention(),
            webhook_networks=networks(config.webhooks.allow),
        )
        service.start(wait=False)
        _serve(config, service, listener, demo=demo)
    finally:
        listener.close()


def take_port(host: str, port: int) -> socket.socket:
    """Return a socket that listens on `host` and `port`; ParameterError if they cannot be used."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)  # asyncio sends at once (TCP_NODELAY) if it is TCP by name
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        raise ParameterError(f"{host}:{port} cannot be listened on: {error.strerror}; choose another --port") from None
    return listener


def _serve(config: ServerConfig, service: Service, listener: socket.socket, *, demo: bool) -> None:
    """Answer requests that come to `listener` until the process is stopped."""
    import uvicorn

    address = f"{'https' if config.server.tls_cert else 'http'}://{config.server.host}:{listener.getsockname()[1]}"
    if demo and service.is_writer:
        Demo(service).start()
    if demo or sys.stderr.isatty():
        _print_first_link(service, address)
    logger.info("listening on %s", address)
    app = create_app(
        service, token_per_minute=config.limits.token_per_minute, body_mb=config.limits.body_mb,
        metrics_for=config.metrics.addresses, project_defaults=config.project_settings(),
    )  # fmt: skip

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.state.streams.stop()  # else the server waits for them
            await super().shutdown(sockets)

    server = uvicorn.Config(
        app,
        http=DeadlineProtocol,
        h11_max_incomplete_event_size=MOST_HEADERS,
        timeout_graceful_shutdown=_STOP_SECONDS,
        timeout_keep_alive=30,
        server_header=False,
        access_log=False,
        log_config=None,
        proxy_headers=config.server.behind_proxy,
        forwarded_allow_ips=config.server.proxy,
        ssl_certfile=config.server.tls_cert or None,
        ssl_keyfile=config.server.tls_key or None,
    )
    Server(server).run(sockets=[listener])


def _print_first_link(service: Service, address: str) -> None:
    """Print a one-time link of `address` for the first administrator of `service`, if there is none yet."""
    if not service.is_writer:
        return  # the server that writes has printed it
    at = now_us()
    with service.writer.transaction() as connection:
        if has_admin(connection):
            sys.stderr.write(f"Sign in at {address}/sign-in\n")
            return
        person = find_or_insert_person(connection, "admin", at)
        code = make_invite(connection, person, Sender(None, admin=True, at=at), admin=True, valid=_FIRST_VALID)
    sys.stderr.write(f"Open this link within 15 minutes to become the administrator:\n{address}/invite/{code}\n")
