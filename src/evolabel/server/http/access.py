"""What every route needs: the service, the identity of the sender, the worker of a project, the origin of a request."""

import asyncio
import contextlib
import hashlib
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from sqlalchemy import Connection

from evolabel.server.http.problems import ProblemError
from evolabel.server.log.times import MINUTE, now_us
from evolabel.server.log.writer import NotWriterError, StoreError, reading
from evolabel.server.people.audit import Sender
from evolabel.server.people.people import touch_token
from evolabel.server.people.policies import ADMIN, Identity, check_admin, check_role, is_member, policy_of, sees_all
from evolabel.server.people.tokens import RateLimit, TokenCheck
from evolabel.server.project.batch import Origin
from evolabel.server.project.follower import check_can_write
from evolabel.server.project.jobs import Operation
from evolabel.server.project.service import Service
from evolabel.server.project.worker import Worker

_CHALLENGE = {"WWW-Authenticate": "Bearer"}
_LONGEST_KEY = 200  # characters
_UNKNOWN_PER_MINUTE = 600  # requests of an address without a valid token
_USED_EVERY = MINUTE  # the time of the last use is stored this often at most

T = TypeVar("T")


class Access:
    """Checks of requests to `service`, and its database; a token without an own limit sends `per_minute` requests."""

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
            needed = "send the header Authorization: Bearer ev_... with a valid token"
            if (wait := self._rates.take(("address", address_of(request)), _UNKNOWN_PER_MINUTE)) > 0.0:
                raise _slow_down("the address has sent too many requests without a valid token", wait)
            raise ProblemError(401, "unauthorised", needed, _CHALLENGE)
        wait = self._rates.take(row.id, row.per_minute or self._per_minute)
        if wait > 0.0:
            raise _slow_down("the token has sent too many requests; send more samples per request", wait)
        self._keep_use(row.id)
        request.state.identity = Identity.of(row)
        return Identity.of(row)

    def enter_again(self, request: Request) -> None:
        """Raise an error unless the token of `request` still suffices; it is not counted as another request."""
        row = self._tokens.find(token_in(request) or "", now_us())
        if row is None:
            raise ProblemError(401, "unauthorised", "the token has ended", _CHALLENGE)
        request.state.identity = Identity.of(row)
        self.enter(request, Identity.of(row))

    def _keep_use(self, token_id: int) -> None:
        """Store in another thread that token `token_id` was used, once a minute at most."""
        now = now_us()
        if now - self._used.get(token_id, 0) < _USED_EVERY:
            return
        self._used[token_id] = now

        def write() -> None:
            with (
                contextlib.suppress(NotWriterError, StoreError),  # the request goes on without it
                self.service.writer.transaction() as connection,
            ):
                touch_token(connection, token_id, now)

        asyncio.get_running_loop().run_in_executor(None, write)

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Return what `query` reads of the database, in a thread."""

        def run() -> T:
            with reading(self.service.reader) as connection:
                return query(connection)

        return await asyncio.to_thread(run)

    async def write(self, act: Callable[[Connection], T]) -> T:
        """Return the result of `act`, which writes to the database in one transaction, in a thread."""

        def run() -> T:
            with self.service.writer.transaction() as connection:
                return act(connection)

        return await asyncio.to_thread(run)

    async def change_people(self, act: Callable[[Connection], T]) -> T:
        """Return the result of `act`, which changes people or tokens, as `write`; every token is read anew."""
        done = await self.write(act)
        self._tokens.forget()
        return done

    def enter(self, request: Request, identity: Identity) -> None:
        """Check that the role of `identity` in the project of `request` suffices for the route, and keep both.

        They are read by `Entered` and `Entrant`.
        """
        worker = self.service.find_worker(request.path_params["slug"])
        if is_member(identity, worker.project.id):
            request.state.worker = worker  # its menu is on the page of an error
        check_role(identity, worker.project.id, policy_of(request.method, request.scope["route"].path))
        worker.check_begun()
        check_can_write(worker, request.method)
        request.state.identity = identity


async def check_policy(request: Request) -> None:
    """Check the role of the sender of an API `request`, once and before its body is validated.

    FastAPI calls it before every route. `pages.visitors` checks the routes of pages.
    """
    path = request.scope["route"].path
    if path.startswith("/api/v1/projects/{slug}"):
        access = access_of(request)
        access.enter(request, access.identity(request))
    elif path.startswith("/api/") and policy_of(request.method, path) == ADMIN:
        check_admin(access_of(request).identity(request))
    elif path.startswith("/api/"):
        access_of(request).identity(request)


def token_in(request: Request) -> str | None:
    """Return the token that `request` carries, or None."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return value.strip() or None if scheme.lower() == "bearer" else None


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


def address_of(request: Request) -> str:
    """Return the address that `request` came from."""
    return request.client.host if request.client else ""


def sender_of(request: Request, person_id: int | None, *, admin: bool = False) -> Sender:
    """Return the sender of `request` for the audit table: person `person_id`, perhaps an administrator (`admin`)."""
    return Sender(person_id, admin, now_us(), address_of(request), request.state.request_id)


AppAccess = Annotated[Access, Depends(access_of)]
"""Parameter of a route: the checks of the application, and its database."""


def _entered(slug: str, request: Request) -> Worker:
    worker: Worker = request.state.worker
    return worker


def _entrant(request: Request) -> Identity:
    identity: Identity = request.state.identity
    return identity


Entered = Annotated[Worker, Depends(_entered)]
"""Parameter of a route: what serves the project of the request, which `check_policy` has let in."""
Entrant = Annotated[Identity, Depends(_entrant)]
"""Parameter of a route: who has sent the request."""


def _sender(request: Request, identity: Entrant) -> Sender:
    return sender_of(request, identity.person_id, admin=identity.admin)


async def _origin(request: Request, identity: Entrant) -> Origin:
    body = request.method.encode() + b" " + request.url.path.encode() + b"\n" + await request.body()
    return Origin(identity.person_id, body_hash=hashlib.sha256(body).digest(), sees_all=sees_all(identity))


Actor = Annotated[Sender, Depends(_sender)]
"""Parameter of a route: who has sent the request, from where and when, for the audit table."""
Sent = Annotated[Origin, Depends(_origin)]
"""Parameter of a route: who has sent the request, what the person sees, and the hash of path and body."""


def _keyed_origin(request: Request, origin: Sent) -> Origin:
    key = request.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= _LONGEST_KEY:
        raise ProblemError(422, "invalid", f"Idempotency-Key must have 1 to {_LONGEST_KEY} characters")
    origin.key = None if key is None else f"key:{origin.actor_id}:{key}"
    return origin


KeyedSent = Annotated[Origin, Depends(_keyed_origin)]
"""Parameter of a route: the origin with the idempotency key, for what no question or label makes known again."""


async def carry_out(worker: Worker, operation: Operation, origin: Origin | None = None, rows: int = 1) -> Any:
    """Return the result of `operation`, which brings `rows` of `origin`, after it was committed by `worker`."""
    body_hash = None if origin is None else origin.body_hash
    return await asyncio.wrap_future(worker.submit(operation, rows, body_hash))


async def read(worker: Worker, operation: Callable[..., Any]) -> Any:
    """Return the result of `operation`, which changes nothing, between two batches of `worker`."""
    return await carry_out(worker, operation)
