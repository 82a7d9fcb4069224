"""HTTP/1.1 with deadlines: a client that sends its head or its body too slowly is cut off."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
BODY_SECONDS = 30.0
SLOWEST = 256 * 1024  # bytes a second of a large body, such as a model file
_LARGEST = 64 * 1024 * 1024  # bytes for which the time of a body is extended
_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class DeadlineProtocol(H11Protocol):
    """A connection whose heads must come within 10 s; idle ones end by the limit of uvicorn.

    A body must come within 30 s, and a second more for each 256 KiB of it.
    """

    _phase: str = ""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._enter("head")

    def data_received(self, data: bytes) -> None:
        """Take `data`, and begin or end the time of a head or a body."""
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Go on with the next request, of which a part may be here already."""
        super().on_response_complete()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the waiting."""
        self._enter("")
        super().connection_lost(exc)

    def _follow(self) -> None:
        """Start the time of the phase in which the connection is."""
        if self.conn.their_state is h11.SEND_BODY:
            self._enter("body")
        elif self.conn.their_state is h11.IDLE and (self.cycle is None or self.conn.trailing_data[0]):
            self._enter("head")
        else:
            self._enter("")

    def _enter(self, phase: str) -> None:
        """Start the time of a `phase`, unless it is the present one; an empty one has no end."""
        if phase == self._phase:
            return
        self._phase = phase
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if phase:
            seconds = HEAD_SECONDS if phase == "head" else BODY_SECONDS + self._announced() / SLOWEST
            self._timer = self.loop.call_later(seconds, self._cut_off)

    def _announced(self) -> int:
        """Return the length of the body in bytes by the head of the request, at most those of a model file."""
        length = dict(self.headers).get(b"content-length", b"0")
        return min(int(length[:20]), _LARGEST) if length.isdigit() else 0

    def _cut_off(self) -> None:
        """Close the connection, with 408 if nothing was answered yet."""
        if not self.transport.is_closing():
            if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
                self.transport.write(_TIMEOUT)
            self.transport.close()
