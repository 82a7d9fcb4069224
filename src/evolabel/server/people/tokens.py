"""Tokens of the API: 256 random bits, stored as a digest, for a person, a project and a role; their limits."""

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, insert

from evolabel.errors import ParameterError
from evolabel.server.log.schema import TOKEN
from evolabel.server.log.times import DAY, SECOND
from evolabel.server.log.writer import reading
from evolabel.server.people.people import TokenRow, find_token

PREFIX = "ev_"
_CACHE_SECONDS = 5.0  # a revoked token is refused after this time at the latest
_MOST_CACHED = 10_000
_DEFAULT_TIME = 90 * DAY
_LONGEST_TIME = 3660 * DAY


def token_digest(token: str) -> bytes:
    """Return the digest under which `token` is stored; a plain hash suffices, because nothing of it can be guessed."""
    return hashlib.sha256(token.encode()).digest()


def make_token(
    connection: Connection, person_id: int, project_id: int | None, role: str | None, *, name: str, at: int,
    expires: int | None = None, per_minute: int | None = None,
) -> str:  # fmt: skip
    """Store a new token of person `person_id` for project `project_id` and a `role`, and return it.

    `connection` writes. `name` is what it is for, `at` is the time, `expires` the time of its end, `per_minute` its
    own limit of requests.
    """
    token = PREFIX + secrets.token_urlsafe(32)
    owner = {"person_id": person_id, "project_id": project_id, "role": role, "name": name, "per_minute": per_minute}
    stored = {"digest": token_digest(token), "hint": token[:9], "created": at, "expires": expires}
    connection.execute(insert(TOKEN).values(**owner, **stored))
    return token


def end_of_token(until: str | None, now: int) -> int:
    """Return the time at which a token made at time `now` ends: at the date or time `until`, or after 90 days.

    A date means the end of that day in UTC. ParameterError if `until` cannot be read, is past or too far away.
    """
    if until is None:
        return now + _DEFAULT_TIME
    try:
        moment = datetime.fromisoformat(until)
    except ValueError:
        raise ParameterError(f"{until[:40]!r} is not a time; write 2027-01-31 or 2027-01-31T12:00:00Z") from None
    end = round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()) * SECOND
    if len(until) == len("2027-01-31"):
        end += DAY
    if not now < end <= now + _LONGEST_TIME:
        raise ParameterError(f"a token cannot end at {until}; choose a time within the next ten years")
    return end


class TokenCheck:
    """Finds tokens by `reader`, and keeps what it has found for a few seconds."""

    def __init__(self, reader: Engine) -> None:
        self._reader = reader
        self._known: OrderedDict[bytes, tuple[float, TokenRow]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, token: str, now: int) -> TokenRow | None:
        """Return the row of a `token` that is valid at time `now`, or None."""
        key, clock = token_digest(token), time.monotonic()
        with self._lock:
            found = self._known.get(key)
        if found is not None and clock - found[0] < _CACHE_SECONDS:
            row = found[1]
            return None if row.expires is not None and row.expires <= now else row
        with reading(self._reader) as connection:
            fresh = find_token(connection, key, now)
        with self._lock:
            self._known.pop(key, None)
            if fresh is not None:
                self._known[key] = (clock, fresh)
                if len(self._known) > _MOST_CACHED:
                    self._known.popitem(last=False)
        return fresh

    def forget(self) -> None:
        """Read every token anew, because some were revoked."""
        with self._lock:
            self._known.clear()


class RateLimit:
    """Buckets that fill up within a minute of `clock`; each request takes one drop from the bucket of its key."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: dict[object, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, key: object, per_minute: int) -> float:
        """Return 0 if `key` may send a request now, at most `per_minute` of them; else the seconds to wait."""
        now = self._clock()
        with self._lock:
            left, at = self._left.get(key, (float(per_minute), now))
            left = min(float(per_minute), left + (now - at) * per_minute / 60.0)
            allowed = left >= 1.0
            self._left[key] = (left - 1.0 if allowed else left, now)
            if len(self._left) > 100_000:
                self._left = {k: v for k, v in self._left.items() if now - v[1] < 60.0}
        return 0.0 if allowed else (1.0 - left) * 60.0 / per_minute
