"""Times in responses: texts such as 2026-11-16T14:02:59.120000Z instead of microseconds."""

from typing import Any

from evolabel.server.store.times import time_text

_TIMES = ("at", "asked_at", "lease_until", "final_at", "created", "expires", "used", "until", "disabled")


def readable_times(facts: dict[str, Any]) -> dict[str, Any]:
    """Return `facts` in which every time is a text in ISO 8601, UTC; lists of facts are read as well."""
    return {name: _readable(name, value) for name, value in facts.items()}


def _readable(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [readable_times(item) if isinstance(item, dict) else item for item in value]
    return value if name not in _TIMES or value is None else time_text(value)
