"""What every route needs: the service, the identity of the sender, the worker of a project, the origin of a request."""

import asyncio
import base64
import binascii
import contextlib
import hashlib
import time
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import Request
from sqlalchemy import Connection

from evolabel.server.http.problems import ProblemError
from evolabel.server.log.times import SECOND
from evolabel.server.log.writer import NotWriterError, StoreError
from evolabel.server.people.membership import Sender
from evolabel.server.people.people import touch_token
from evolabel.server.people.policies import ADMIN, HiddenError, Identity, check_admin, check_role, policy_of, sees_all
from evolabel.server.people.tokens import RateLimit, TokenCheck
from evolabel.server.project.batch import Origin
from evolabel.server.project.follower import check_can_write
from evolabel.server.project.jobs import Verb
from evolabel.server.project.service import Service
from evolabel.server.project.worker import Worker

BASIC = "/ls/"
"""Beginning of the addresses that take a token as the password of Basic authentication, as Label Studio sends it."""


def token_in(request: Request) -> str | None:
    """Return the token that `request` carries, or None."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    value = value.strip()
    if scheme.lower() == "bearer":
        return value or None
    if scheme.lower() != "basic" or not request.url.path.startswith(BASIC):
        return None
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2] or None
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def needed_header(request: Request) -> str:
    """Return what the sender of `request`, which has no valid token, is to do."""
    if request.url.path.startswith(BASIC):
        return "give Label Studio a valid token of the role bridge as the password of Basic authentication"
    return "send the header Authorization: Bearer ev_... with a valid token"


def challenge(request: Request) -> dict[str, str]:
    """Return the header by which a response to `request` asks for a token."""
    return {"WWW-Authenticate": "Basic" if request.url.path.startswith(BASIC) else "Bearer"}


_LONGEST_KEY = 200  # characters
_UNKNOWN_PER_MINUTE = 600  # requests of an address without a valid token
_USED_EVERY = 60 * SECOND  # the time of the last use is stored this often at most

T = TypeVar("T")


class Access:
    """Checks of requests.

    Parameters
    ----------
    service : Service
    per_minute : int
        Requests of a token that has no limit of its own.
    """

    def __init__(self, service: Service, per_minute: int) -> None:
        self.service = service
        self._tokens = TokenCheck(service.reader)
        self._rates = RateLimit()
        self._per_minute = per_minute
        self._used: dict[int, int] = {}

    def identity(self, request: Request) -> Identity:
        """Return who has sent `request`; ProblemError 401 without a valid token, 429 above its limit.

        A request is counted once, however often it is asked for.
        """
        found = getattr(request.state, "identity", None)
        if isinstance(found, Identity):
            return found
        token = token_in(request)
        row = None if token is None else self._tokens.find(token, now_us())
        if row is None:
            needed = needed_header(request)
            address = request.client.host if request.client else ""
            if (wait := self._rates.take(("address", address), _UNKNOWN_PER_MINUTE)) > 0.0:
                raise _slow_down("the address has sent too many requests without a valid token", wait)
            raise ProblemError(401, "unauthorised", needed, challenge(request))
        wait = self._rates.take(row.id, row.per_minute or self._per_minute)
        if wait > 0.0:
            raise _slow_down("the token has sent too many requests; send more samples per request", wait)
        self._keep_use(row.id)
        request.state.identity = Identity.of(row)
        return Identity.of(row)

    def enter_again(self, request: Request, slug: str) -> None:
        """Raise an error unless the token of `request` still suffices for its route in project `slug`.

        It is not counted as another request.
        """
        row = self._tokens.find(token_in(request) or "", now_us())
        if row is None:
            raise ProblemError(401, "unauthorised", "the token has ended", challenge(request))
        request.state.identity = Identity.of(row)
        self.enter(request, slug)

    def _keep_use(self, token_id: int) -> None:
        """Store in another thread that token `token_id` was used, once a minute at most."""
        now = now_us()
        if now - self._used.get(token_id, 0) < _USED_EVERY:
            return
        self._used[token_id] = now

        def write() -> None:
            with (
                contextlib.suppress(NotWriterError, StoreError),  # the request goes on without it
                self.service.pen.transaction() as connection,
            ):
                touch_token(connection, token_id, now)

        asyncio.get_running_loop().run_in_executor(None, write)

    async def write(self, act: Callable[[Connection], T]) -> T:
        """Return the result of `act`, which changes people or tokens in one transaction; every token is read anew."""

        def run() -> T:
            with self.service.pen.transaction() as connection:
                return act(connection)

        done = await asyncio.to_thread(run)
        self._tokens.forget()
        return done

    def admin(self, request: Request) -> Identity:
        """Return who has sent `request`, an administrator."""
        identity = self.identity(request)
        check_admin(identity)
        return identity

    def enter(self, request: Request, slug: str) -> tuple[Worker, Identity]:
        """Return the worker of project `slug` and who has sent `request`, whose role there suffices for the route."""
        identity = self.identity(request)
        worker = self.service.find_worker(slug)
        if worker is None:
            raise HiddenError("there is no such project; check its name and your token")
        check_role(identity, worker.project.id, policy_of(request.method, request.scope["route"].path))
        worker.check_begun()
        check_can_write(worker, request.method)
        return worker, identity


async def check_policy(request: Request) -> None:
    """Check the role of the sender of an API `request` before its body is validated; routes of pages check their own.

    FastAPI calls it before every route.
    """
    path = request.scope["route"].path
    if path.startswith("/api/v1/projects/{slug}"):
        access_of(request).enter(request, request.path_params["slug"])
    elif path.startswith("/api/") and policy_of(request.method, path) == ADMIN:
        access_of(request).admin(request)


def _slow_down(what: str, wait: float) -> ProblemError:
    detail = f"{what}; wait {max(1, round(wait))} s, then send the request again"
    return ProblemError(429, "slow-down", detail, {"Retry-After": str(max(1, round(wait)))})


def access_of(request: Request) -> Access:
    """Return the checks of the application that serves `request`."""
    access: Access = request.app.state.access
    return access


def check_row_count(request: Request, n: int) -> None:
    """Raise ProblemError if `request` brings more rows than the limit: `n`."""
    if n > (most := access_of(request).service.limits.rows):
        raise ProblemError(413, "too-large", f"{n} rows were sent; send at most {most} at once")


def sender_of(request: Request, identity: Identity) -> Sender:
    """Return who has sent `request`, by its `identity`, from where and when, for the audit table."""
    address = request.client.host if request.client else ""
    return Sender(identity.person_id, identity.admin, address, request.state.request_id, now_us())


async def keyed_origin_of(request: Request, identity: Identity) -> Origin:
    """Return the origin of `request` with its idempotency key, which belongs to the person of `identity`.

    Only samples need a key: other requests are known by their question or label.
    """
    origin, key = await origin_of(request, identity), request.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= _LONGEST_KEY:
        raise ProblemError(422, "invalid", f"Idempotency-Key must have 1 to {_LONGEST_KEY} characters")
    origin.key = None if key is None else f"key:{identity.person_id}:{key}"
    return origin


async def origin_of(request: Request, identity: Identity) -> Origin:
    """Return the origin of `request`: the `identity` and what it sees, and the hash of path and body."""
    body = request.method.encode() + b" " + request.url.path.encode() + b"\n" + await request.body()
    return Origin(identity.person_id, body_hash=hashlib.sha256(body).digest(), sees_all=sees_all(identity))


async def carry_out(worker: Worker, verb: Verb, rows: int = 1, origin: Origin | None = None) -> Any:
    """Return the result of `verb`, which brings this many `rows` of `origin`, after it was committed by `worker`."""
    body_hash = None if origin is None else origin.body_hash
    return await asyncio.wrap_future(worker.submit(verb, rows, body_hash))


async def read(worker: Worker, verb: Callable[..., Any]) -> Any:
    """Return the result of `verb`, which changes nothing, between two batches of `worker`."""
    return await carry_out(worker, verb)


def now_us() -> int:
    """Return the time in microseconds since 1970."""
    return time.time_ns() // 1000
