"""The application on a port of this machine, for clients that use the network."""

import contextlib
import socket
import threading
import time

import uvicorn

from evolabel.server.app import create_app


@contextlib.contextmanager
def listening(service):
    """Address of a server for the service; it ends with the block, the service goes on."""
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))
        app = create_app(service, token_per_minute=1_000_000)
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [port]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield "http://{}:{}".format(*port.getsockname())
        server.should_exit = True
        thread.join(10)
