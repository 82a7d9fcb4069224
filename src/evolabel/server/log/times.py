"""Times: microseconds since 1970, and texts such as 2026-11-16T14:02:59.120000Z."""

import time
from datetime import UTC, datetime
from typing import Any

SECOND = 1_000_000  # microseconds
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_TIMES = ("at", "asked_at", "lease_until", "final_at", "created", "expires", "used", "until", "disabled")


def now_us() -> int:
    """Return the time now."""
    return time.time_ns() // 1000


def local_time(at: int) -> datetime:
    """Return the time `at` in the time zone of the server."""
    return datetime.fromtimestamp(at / SECOND, UTC).astimezone()


def utc_text(at: int) -> str:
    """Return the time `at` in ISO 8601, UTC."""
    seconds, rest = divmod(at, SECOND)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest, tzinfo=None).isoformat() + "Z"


def readable_times(facts: dict[str, Any]) -> dict[str, Any]:
    """Return `facts` in which every time is a text in ISO 8601, UTC; lists of facts are read as well."""
    return {name: _readable(name, value) for name, value in facts.items()}


def _readable(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [readable_times(item) if isinstance(item, dict) else item for item in value]
    return value if name not in _TIMES or value is None else utc_text(value)
