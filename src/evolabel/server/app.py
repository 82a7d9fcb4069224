"""The application: routes, limits of bodies, request ids."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evolabel import __version__
from evolabel.server import problems
from evolabel.server.api import answers, health, members, projects, questions, rules, sample_reading, samples, users
from evolabel.server.api.access import Access
from evolabel.server.service import Service
from evolabel.server.web import pages

MOST_BODY = 8 * 1024 * 1024  # bytes
_TOO_LARGE = 413, "too-large", f"the body may have {MOST_BODY} bytes; send fewer samples at once"
_MOST_FORM = 256 * 1024  # bytes
TOKEN_PER_MINUTE = 600
ROUTERS = (
    samples.router,
    sample_reading.router,
    questions.router,
    rules.router,
    answers.router,
    projects.router,
    members.router,
    users.router,
    health.router,
    *pages.PAGE_ROUTERS,
)
"""All routes; each has its policy in `security.policies`."""
_LONGEST_REQUEST_ID = 100


def create_app(service: Service, *, token_per_minute: int = TOKEN_PER_MINUTE) -> FastAPI:
    """Return the application over `service`; a token may send `token_per_minute` requests."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        service.stop()

    app = FastAPI(
        title="evolabel",
        version=__version__,
        description="Samples in, predictions and few good questions out; answers train the model.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.access = Access(service, token_per_minute)
    problems.install(app)
    pages.install_pages(app, service)
    for router in ROUTERS:
        app.include_router(router)
    app.add_middleware(Guard)
    return app


class Guard:
    """Gives each request an id, refuses bodies that are too large or no JSON, and adds headers of security."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a problem document."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        given = request.headers.get("x-request-id", "")
        request_id = given if 0 < len(given) <= _LONGEST_REQUEST_ID and given.isprintable() else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        refusal = _refusal(request)
        body = None if refusal is not None else await _read_body(receive)
        if body is not None and b"%00" in body and not body.startswith(b"{"):
            refusal, body = (422, "invalid", "a field has a character that cannot be stored; leave it out"), None
        if body is None:
            await problems.document(request, *(refusal or _TOO_LARGE))(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(b"x-request-id", request_id.encode()), *_headers(message["headers"])]
            await send(message)

        await self._app(scope, _replaying(body, receive), with_headers)


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


def _refusal(request: Request) -> tuple[int, str, str] | None:
    """Return status, type and detail of the problem with the address or headers of `request`, or None."""
    if "\0" in request.url.path or "%00" in request.url.query:
        return 404, "not-found", "the address has a character that no name has; check it"
    length = request.headers.get("content-length", "0")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_form = kind == "application/x-www-form-urlencoded" and not request.url.path.startswith("/api/")
    most = _MOST_FORM if is_form else MOST_BODY
    if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
        return _TOO_LARGE
    has_body = length != "0" or "transfer-encoding" in request.headers
    if has_body and kind != "application/json" and not is_form:
        return 415, "not-json", "the body must be JSON; send the header Content-Type: application/json"
    return None


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body that `receive` brings, or None if it grows beyond the limit or the sender goes away."""
    parts, size = list[bytes](), 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BODY:
            return None
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
