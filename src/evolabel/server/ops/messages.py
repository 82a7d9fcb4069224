"""Lines of the log of the server, on stderr, without bodies, tokens and links; messages to systemd."""

import asyncio
import contextlib
import json
import logging
import os
import re
import socket
import sys
from datetime import UTC, datetime

_FACTS = ("request_id", "method", "route", "status", "ms", "project", "seq", "actor")
_SECRETS = re.compile(r"ev_[\w-]{20,}|(?<=/invite/)[\w-]{20,}|(?<=://)[^/\s@:]+:[^/\s@]+(?=@)")


class JsonLines(logging.Formatter):
    """Makes one JSON object of a message: time, level, event, and what is known of the request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for `record`."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": at, "level": record.levelname.lower(), "event": without_secrets(record.getMessage())}
        line |= {name: getattr(record, name) for name in _FACTS if getattr(record, name, None) is not None}
        if record.exc_info:
            line["trace"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)


class PlainLines(logging.Formatter):
    """Makes a line for people of a message: time, level, logger, text, and the trace of an error below it."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the text for `record`."""
        return without_secrets(super().format(record))


def without_secrets(text: str) -> str:
    """Return `text` in which tokens, one-time links and passwords of addresses are replaced."""
    return _SECRETS.sub("[hidden]", text)


def set_up_logging(level: str, format: str) -> None:
    """Send messages from `level` on to stderr, as JSON lines or, if `format` is text, for people to read."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if format == "json" else PlainLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)


_VARIABLE = "NOTIFY_SOCKET"


def notify(message: str) -> bool:
    """Send `message`, such as READY=1, to the manager that started this process; return whether there is one."""
    address = os.environ.get(_VARIABLE, "")
    if not address:
        return False
    name = "\0" + address[1:] if address.startswith("@") else address
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.connect(name)
        out.sendall(message.encode())
        return True
    return False


async def keep_notifying() -> None:
    """Say that the service is ready, and then, while the event loop runs, that it is alive as often as is asked for."""
    if not notify("READY=1"):
        return
    micros = os.environ.get("WATCHDOG_USEC", "")
    while micros.isdigit() and int(micros) > 0:
        await asyncio.sleep(int(micros) / 2_000_000)
        notify("WATCHDOG=1")
