"""Times as texts: 2026-11-16T14:02:59.120000Z instead of microseconds since 1970."""

from datetime import UTC, datetime

_SECOND = 1_000_000  # microseconds


def time_text(at: int) -> str:
    """Return the time `at` in ISO 8601, UTC."""
    seconds, rest = divmod(at, _SECOND)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest, tzinfo=None).isoformat() + "Z"
