"""Limit of requests per minute, by token."""

import threading
import time
from collections.abc import Callable


class RateLimit:
    """Buckets that fill up within a minute; each request takes one drop from the bucket of its key.

    Parameters
    ----------
    clock : function
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: dict[object, tuple[float, float]] = {}
        self._turn = threading.Lock()

    def take(self, key: object, per_minute: int) -> float:
        """Return 0 if `key` may send a request now, at most `per_minute` of them; else the seconds to wait."""
        now = self._clock()
        with self._turn:
            left, at = self._left.get(key, (float(per_minute), now))
            left = min(float(per_minute), left + (now - at) * per_minute / 60.0)
            allowed = left >= 1.0
            self._left[key] = (left - 1.0 if allowed else left, now)
            if len(self._left) > 100_000:
                self._left = {k: v for k, v in self._left.items() if now - v[1] < 60.0}
        return 0.0 if allowed else (1.0 - left) * 60.0 / per_minute
