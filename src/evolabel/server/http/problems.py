"""Problem documents (RFC 9457): every error of the service as JSON, with what to do about it."""

import logging
from typing import Any, cast

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from evolabel.errors import (
    DataError,
    DataTypeError,
    EvolabelError,
    FileFormatError,
    MissingDependencyError,
    ModelFileError,
    ParameterError,
    StateError,
)
from evolabel.server.log.disk import DiskFullError
from evolabel.server.log.writer import NotWriterError, StoreError, store_problem
from evolabel.server.people.policies import ForbiddenError, HiddenError, SlowDownError, UnauthorisedError
from evolabel.server.project.jobs import BusyError, CannotApplyError
from evolabel.server.project.operations import ConflictError, PlacedError, UnknownError
from evolabel.server.project.rule_edits import MovedError

logger = logging.getLogger("evolabel.server")

_MOST_FAULTS = 20  # of one request, in its problem document
_MEDIA = "application/problem+json"
_STATUS_OF_TYPE = {"key-reused": 422, "disk-full": 507}


_TEXT = {"type": "string"}
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": _TEXT, "title": _TEXT, "status": {"type": "integer"}, "detail": _TEXT,
        "instance": {"type": ["string", "null"]},
        "errors": {"type": "array", "items": {"type": "object", "properties": {"pointer": _TEXT, "detail": _TEXT}}},
    },
}  # fmt: skip
DOCUMENTED: dict[int | str, dict[str, Any]] = {
    status: {"description": what, "content": {_MEDIA: {"schema": _PROBLEM}}}
    for status, what in (("4XX", "Refused; `detail` has what to do"), ("5XX", "Not done now; `detail` has the reason"))
}
"""Errors of every route in the OpenAPI document."""


class ProblemError(EvolabelError):
    """An error that a route raises, with the status and the type of its document."""

    def __init__(self, status: int, type: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.type = type
        self.headers = headers or {}


def install(app: FastAPI) -> None:
    """Make `app` answer every error with a problem document."""
    app.add_exception_handler(EvolabelError, _evolabel_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected)


def document(
    request: Request, status: int, type: str, detail: str, *, errors: list[dict[str, str]] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:  # fmt: skip
    """Return the problem document of `request`: `status`, `type`, `detail`, `headers`, and the faults in `errors`.

    A browser that asks for a page gets one, from the function that the application keeps as `problem_page`.
    """
    page = getattr(request.app.state, "problem_page", None) if "app" in request.scope else None
    if "app" in request.scope:
        request.app.state.access.service.metrics.rejected.labels(type).inc()
    is_for_browser = "text/html" in request.headers.get("accept", "")
    if page is not None and not request.url.path.startswith("/api/") and is_for_browser:
        return cast(Response, page(request, status, type, detail, headers))
    content: dict[str, Any] = {
        "type": f"/problems/{type}",
        "title": type.replace("-", " ").capitalize(),
        "status": status,
        "detail": detail,
        "instance": getattr(request.state, "request_id", None),
    }
    if errors:
        content["errors"] = errors
    return JSONResponse(content, status, headers, media_type=_MEDIA)


async def _evolabel_error(request: Request, error: Exception) -> Response:
    return problem_of(request, error)


def problem_of(request: Request, error: Exception) -> Response:
    """Return the problem document of `request` for an `error` of the service."""
    if isinstance(error, ProblemError):
        return document(request, error.status, error.type, str(error), headers=error.headers)
    if isinstance(error, PlacedError):
        faults = [{"pointer": error.pointer, "detail": str(error)}]
        return document(request, 422, "invalid", str(error), errors=faults)
    if isinstance(error, StoreError):
        logger.error("%s", error)
        return document(request, 503, *store_problem(error), headers={"Retry-After": "1"})
    status, type = _kind(error)
    wait = error.seconds if isinstance(error, SlowDownError) else 1.0 if status == 503 else 0.0
    headers = {"Retry-After": str(max(1, round(wait)))} if wait else None
    return document(request, status, type, str(error), headers=headers)


def _kind(error: Exception) -> tuple[int, str]:
    """Return the status and the type of the problem that `error` is."""
    if isinstance(error, ConflictError):
        return _STATUS_OF_TYPE.get(error.type, 409), error.type
    if isinstance(error, BusyError):
        return _STATUS_OF_TYPE.get(error.type, 503), error.type
    for kind, answer in _KINDS:
        if isinstance(error, kind):
            return answer
    return 500, "internal"


_KINDS: tuple[tuple[type[Exception], tuple[int, str]], ...] = (
    (CannotApplyError, (500, "cannot-apply")),
    (MovedError, (412, "model-moved")),
    (HiddenError, (404, "not-found")),
    (UnknownError, (404, "not-found")),
    (ForbiddenError, (403, "forbidden")),
    (UnauthorisedError, (401, "unauthorised")),
    (SlowDownError, (429, "slow-down")),
    (DiskFullError, (507, "disk-full")),
    (NotWriterError, (503, "standby")),
    (StateError, (409, "conflict")),
    (ParameterError, (422, "invalid")),
    (DataError, (422, "invalid")),
    (ModelFileError, (422, "invalid")),
    (FileFormatError, (422, "invalid")),
    (DataTypeError, (422, "invalid")),
    (MissingDependencyError, (422, "missing-package")),
)


async def _invalid(request: Request, error: Exception) -> Response:
    faults = error.errors() if isinstance(error, RequestValidationError) else []
    if any(fault["type"] == "json_invalid" for fault in faults):
        return document(request, 400, "bad-json", "the body is not JSON; send UTF-8 JSON")
    places = [
        {"pointer": "/" + "/".join(str(step) for step in fault["loc"][1:]), "detail": fault["msg"]}
        for fault in faults[:_MOST_FAULTS]
    ]
    detail = "; ".join(f"{place['pointer']}: {place['detail']}" for place in places[:3])
    return document(request, 422, "invalid", detail, errors=places)


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 400:
        return document(request, 400, "bad-json", "the body is not JSON; send UTF-8 JSON")
    types = {404: "not-found", 405: "method-not-allowed", 413: "too-large", 415: "not-json"}
    detail = str(getattr(error, "detail", error))
    return document(request, status, types.get(status, "refused"), detail, headers=getattr(error, "headers", None))


async def _unexpected(request: Request, error: Exception) -> Response:
    request_id = getattr(request.state, "request_id", None)
    logger.error("request %s failed: %s %s", request_id, request.method, request.url.path, exc_info=error)
    return document(request, 500, "internal", "the service failed; its log has the request id and the cause")
