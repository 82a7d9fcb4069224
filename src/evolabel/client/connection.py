"""What both clients need: httpx, imported on first use, and lines of a text that comes in pieces."""

from types import ModuleType
from typing import Any

from evolabel._utils.optional import load
from evolabel.errors import ParameterError


def load_httpx() -> ModuleType:
    """Return httpx; if it is missing, the error has the command that installs it."""
    return load("httpx", "client", "the client")


def options(url: str, token: str, timeout: float, transport: Any) -> dict[str, Any]:
    """Return the arguments of `httpx.Client` for the service at `url`.

    `token` opens it, `timeout` is that of a response in seconds, and `transport` one of httpx instead of its own.
    """
    if not url.startswith(("http://", "https://")):
        raise ParameterError(f"{url!r} is no address of a service; write one such as http://127.0.0.1:8080")
    if not token.isascii() or not token.isprintable() or not token:
        raise ParameterError("the token has characters that no token has; use the text that was shown once")
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    return {"base_url": url.rstrip("/"), "headers": headers, "timeout": timeout, "transport": transport}


def was_sent(error: Exception) -> bool:
    """Return whether a request that ended in an `error` of httpx may have reached the service."""
    httpx = load_httpx()
    return not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)


class LineSplitter:
    """Splits a text at line feeds alone: other characters that end a line may stand inside of JSON and CSV."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def take(self, piece: str) -> list[str]:
        """Return the lines that end in the next `piece` of the text."""
        *ended, rest = piece.split("\n")
        if ended:
            ended[0] = "".join([*self._pieces, ended[0]])
            self._pieces = []
        self._pieces.append(rest)
        return ended

    def last(self) -> list[str]:
        """Return the line that no line feed has ended, if there is one."""
        rest = "".join(self._pieces)
        return [rest] if rest else []
