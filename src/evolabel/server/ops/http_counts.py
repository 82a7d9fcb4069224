"""Counts of HTTP requests, for /metrics."""

import threading
from collections import Counter

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class HttpCounts:
    """Requests by route, method and status, the seconds they took by route, and problem documents by type."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._rejected: Counter[str] = Counter()
        self._seconds: dict[str, tuple[int, float]] = {}

    def add(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request of `method` to `route` that was answered with `status` after `seconds`.

        A method that is not usual is counted as "other": senders can invent any number of them.
        """
        with self._turn:
            self._requests[route, method if method in _METHODS else "other", str(status)] += 1
            n, total = self._seconds.get(route, (0, 0.0))
            self._seconds[route] = n + 1, total + seconds

    def add_rejected(self, type: str) -> None:
        """Count a problem document of this `type`."""
        with self._turn:
            self._rejected[type] += 1

    def rejected(self) -> dict[str, int]:
        """Return the number of problem documents by type."""
        with self._turn:
            return dict(self._rejected)

    def requests(self) -> dict[tuple[str, str, str], int]:
        """Return the number of requests by route, method and status."""
        with self._turn:
            return dict(self._requests)

    def seconds(self) -> dict[str, tuple[int, float]]:
        """Return by route the number of requests and the sum of their seconds."""
        with self._turn:
            return dict(self._seconds)
