"""Errors of the clients: a problem document of the service, or a connection that was lost."""

from collections.abc import Mapping
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
