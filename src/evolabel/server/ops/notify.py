"""Messages to systemd: ready, alive, stopping. Without systemd nothing is sent."""

import asyncio
import contextlib
import os
import socket

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
