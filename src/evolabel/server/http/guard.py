"""What every request passes: an id, limits before the body, headers of security, one log line, the audit table."""

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evolabel.errors import EvolabelError
from evolabel.server.http import problems
from evolabel.server.http.access import sender_of
from evolabel.server.http.problems import ProblemError
from evolabel.server.people.audit import write_audit_or_log
from evolabel.server.project.counters import Metrics
from evolabel.server.project.service import Service

MOST_BODY = 8 * 1024 * 1024  # bytes, by default
MOST_HEADERS = 64 * 1024  # bytes
_MOST_FORM = 256 * 1024  # bytes
_LONGEST_REQUEST_ID = 100
_FILE_PATH = {
    "PUT": re.compile(r"/api/v1/projects/[a-z0-9-]{1,40}/model"),
    "POST": re.compile(r"/p/[a-z0-9-]{1,40}/model|/new|/api/v1/files"),
}
_QUIET = ("/livez", "/readyz", "/metrics")

logger = logging.getLogger("evolabel.server.requests")


class Guard:
    """Gives each request to `app` an id, checks token and size before its body is read, and adds headers of security.

    `metrics` count the requests, bodies have `most_body` bytes at most, and `audit` is called with each request, its
    route and the status of its response, before that is sent.
    """

    def __init__(
        self, app: ASGIApp, metrics: Metrics, most_body: int = MOST_BODY,
        audit: Callable[[Request, str, int], Awaitable[None]] | None = None,
    ) -> None:  # fmt: skip
        self._app = app
        self._audit = audit
        self._metrics = metrics
        self._most_body = most_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a problem document."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, request, status = time.perf_counter(), Request(scope), 500
        given = request.headers.get("x-request-id", "")
        request_id = given if 0 < len(given) <= _LONGEST_REQUEST_ID and given.isprintable() else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id

        async def with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if self._audit is not None:
                    await self._audit(request, _route(request), status)
                message["headers"] += [(b"x-request-id", request_id.encode()), *_headers(message["headers"])]
            await send(message)

        try:
            await self._answer(request, receive, with_headers)
        finally:
            self._log(request, status, time.perf_counter() - begin)

    async def _answer(self, request: Request, receive: Receive, send: Send) -> None:
        """Read the body of `request`, unless its head or its token is refused, and pass it on.

        A file is read by its route, after the sender was checked.
        """
        if (path := _FILE_PATH.get(request.method)) is not None and path.fullmatch(request.url.path):
            await self._app(request.scope, receive, send)
            return
        most = _MOST_FORM if _is_form(request) else self._most_body
        try:
            _check_head(request, most)
            if request.url.path.startswith("/api/"):
                request.app.state.access.identity(request)
            body = await _read_body(receive, most)
            if b"%00" in body and _is_form(request):
                raise ProblemError(422, "invalid", "a field has a character that cannot be stored; leave it out")
        except EvolabelError as error:
            await problems.problem_of(request, error)(request.scope, receive, send)
        else:
            await self._app(request.scope, _replaying(body, receive), send)

    def _log(self, request: Request, status: int, seconds: float) -> None:
        """Count `request`, and write one line about it; its route, not its address, which may hold a secret."""
        route = _route(request)
        self._metrics.add_request(route, request.method, status, seconds)
        identity = getattr(request.state, "identity", None)
        facts = {
            "request_id": request.state.request_id,
            "method": request.method,
            "route": route or None,
            "status": status,
            "ms": round(1000.0 * seconds, 1),
            "project": request.scope.get("path_params", {}).get("slug"),
            "actor": None if identity is None else identity.person_id,
        }
        logger.log(logging.DEBUG if route in _QUIET else logging.INFO, "request", extra=facts)


def _route(request: Request) -> str:
    """Return the route that `request` was matched with, empty without one."""
    return getattr(request.scope.get("route"), "path", "")


_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
).encode()
_NO_PAGE = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'"


def _headers(present: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of security that a response with the headers `present` lacks."""
    names = dict(present)
    is_page = names.get(b"content-type", b"").startswith(b"text/html")
    added = [
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"content-security-policy", _POLICY if is_page else _NO_PAGE),
    ]
    return added if b"cache-control" in names else [*added, (b"cache-control", b"no-store")]


def _is_form(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/x-www-form-urlencoded" and not request.url.path.startswith("/api/")


def _check_head(request: Request, most: int) -> None:
    """Raise ProblemError for an address or headers of `request` that are refused; its body may have `most` bytes."""
    if "\0" in request.url.path or "%00" in request.url.query:
        raise ProblemError(404, "not-found", "the address has a character that no name has; check it")
    if sum(len(name) + len(value) for name, value in request.scope["headers"]) > MOST_HEADERS:
        detail = f"the headers may have {MOST_HEADERS} bytes; send fewer or shorter ones"
        raise ProblemError(431, "headers-too-large", detail)
    length = request.headers.get("content-length", "0")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
        raise _too_large(most)
    has_body = length != "0" or "transfer-encoding" in request.headers
    if has_body and kind != "application/json" and not _is_form(request):
        detail = "the body must be JSON; send the header Content-Type: application/json"
        raise ProblemError(415, "not-json", detail)


def _too_large(most: int) -> ProblemError:
    return ProblemError(413, "too-large", f"the body may have {most} bytes; send less at once")


async def _read_body(receive: Receive, most: int) -> bytes:
    """Return the body that `receive` brings; ProblemError if it grows beyond `most` bytes or the sender goes away."""
    parts, size = list[bytes](), 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _too_large(most)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_large(most)
        if not message.get("more_body"):
            return b"".join(parts)


def _replaying(body: bytes, receive: Receive) -> Receive:
    """Return a function that brings `body` at once, then what `receive` brings."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


_API, _PAGE = "/api/v1/projects/{slug}", "/p/{slug}"
AUDITED_ROUTES = {
    "POST /new/{key}": "project-made",
    "POST /api/v1/files/{file}/project": "project-made",
    f"POST {_API}/file/stop": "file-stopped",
    f"POST {_API}/file/continue": "file-continued",
    f"POST {_PAGE}/file": "file-changed",
    f"PATCH {_API}": "settings-changed",
    f"POST {_API}/pause": "paused",
    f"POST {_API}/resume": "resumed",
    f"POST {_API}/labels": "label-added",
    f"DELETE {_API}/labels/{{name}}": "label-retired",
    f"POST {_API}/rules": "rule-added",
    f"PUT {_API}/rules/{{rule}}": "rule-edited",
    f"POST {_API}/rules/merge": "rules-merged",
    **{f"POST {_API}/rules/{{rule}}/{act}": f"rule-{act}" for act in ("lock", "unlock", "rename", "delete")},
    f"POST {_API}/acts/{{seq}}/undo": "act-undone",
    f"POST {_PAGE}/settings": "settings-changed",
    f"POST {_PAGE}/pause": "paused",
    f"POST {_PAGE}/resume": "resumed",
    f"POST {_PAGE}/rules/edit": "rule-edited",
    f"POST {_PAGE}/rules/{{number}}/{{act}}": "rule-act",
    f"POST {_PAGE}/acts/{{number}}/undo": "act-undone",
}
"""What a request that was carried out is called in the audit table, by method and route."""


async def audit_request(service: Service, request: Request, route: str, status: int) -> None:
    """Write to the audit table of `service`, what `request` to this `route` did, unless `status` is an error.

    A trial without effect (`dry_run`, a preview with 200) is left out, and what was only begun (202).
    """
    action = AUDITED_ROUTES.get(f"{request.method} {route}")
    is_page, is_trial = route.startswith(_PAGE), "dry_run" in request.query_params
    if action is None or is_trial or status >= 400 or status == 202 or (is_page and status == 200):
        return
    identity = getattr(request.state, "identity", None)
    subject = "/".join(str(value) for value in request.path_params.values())
    sender = sender_of(request, identity and identity.person_id)
    await asyncio.to_thread(write_audit_or_log, service.writer, action, subject, sender)
