"""What both clients have in common: errors, tries of a request, and lines of a text that comes in pieces."""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolabel._utils.json_text import parse_json
from evolabel.errors import EvolabelError


class ServiceError(EvolabelError, RuntimeError):
    """The service has refused a request; the message is that of the service.

    Parameters
    ----------
    status : int
        Status of the response.
    document : dict
        The problem document (RFC 9457): type, title, status, detail, instance, and perhaps errors.
    retry_after : float, optional
        Seconds after which the service can be asked again.
    """

    def __init__(self, status: int, document: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.document = dict(document)
        self.type = str(document.get("type", "")).rpartition("/")[2]
        """Name of the problem, such as sample-differs."""
        self.retry_after = retry_after
        super().__init__(f"{document.get('detail') or 'the service gave no reason'} ({status} {self.type})".rstrip())


class ConnectionLostError(EvolabelError, ConnectionError):
    """There was no response; whether the service has carried the request out is not known."""


def document_of(response: Any) -> Any:
    """Return the JSON in a `response` of httpx, or the bytes of a file, None without a body.

    ServiceError if it is a refusal, or neither.
    """
    if response.is_success and response.headers.get("content-type") == "application/octet-stream":
        return response.content
    try:
        document = parse_json(response.content) if response.content else None
    except ValueError:
        document = {"detail": f"{response.url} has answered with something that is no JSON; check the address"}
        raise ServiceError(response.status_code, document) from None
    if response.is_success:
        return document
    given = document if isinstance(document, dict) else {"detail": f"{response.url} has refused the request"}
    raise ServiceError(response.status_code, given, _seconds(response.headers.get("retry-after")))


def _seconds(text: str | None) -> float | None:
    """Return the number of seconds in the header `text`; None without one, or where it is a date."""
    return float(text) if text is not None and text.isascii() and text.isdigit() else None


_NOTHING_DONE = (429, 507)  # by the promise of the service
_UNKNOWN = (502, 503, 504)  # of a proxy that may have lost the response, or of a commit whose end is not known
_NOT_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout")  # errors of httpx before the service has a request
_PASSING = ("busy", "standby", "rebuilding", "starting")  # types of a 503 after which every request is sent again


@dataclass(frozen=True)
class Retry:
    """How long a request is tried.

    Parameters
    ----------
    seconds : float
        Time after which no further try begins; 0: a single try.
    first : float
        Seconds before the second try; they double with each further one.
    longest : float
        Most seconds between two tries.
    """

    seconds: float = 60.0
    first: float = 0.25
    longest: float = 10.0


class Tries:
    """The tries of one request by `retry`; one that is `repeatable` is carried out once where it comes twice."""

    def __init__(self, retry: Retry, *, repeatable: bool) -> None:
        self._retry = retry
        self._repeatable = repeatable
        self._end = time.monotonic() + retry.seconds
        self._wait = retry.first

    def wait_after(self, error: Exception) -> float:
        """Return the seconds to wait after a try that ended in `error`; raises it if there is no further one."""
        refusal = error if isinstance(error, ServiceError) else None
        if refusal is None:  # of httpx
            again = self._repeatable or type(error).__name__ in _NOT_SENT
        else:
            is_passing = refusal.status == 503 and refusal.type in _PASSING
            is_unknown = refusal.status in _UNKNOWN
            again = refusal.status in _NOTHING_DONE or is_passing or (is_unknown and self._repeatable)
        asked = 0.0 if refusal is None else refusal.retry_after or 0.0
        wait = max(asked, self._wait * random.uniform(0.5, 1.0))
        if again and time.monotonic() + wait <= self._end:
            self._wait = min(2.0 * self._wait, self._retry.longest)
            return wait
        if refusal is not None:
            raise refusal
        raise ConnectionLostError(f"the service has not answered: {error or type(error).__name__}") from error


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
