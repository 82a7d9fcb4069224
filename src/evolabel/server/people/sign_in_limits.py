"""Limits of failed sign-ins: by name and address together, and by address; never by name alone."""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable

_WINDOW = 600.0  # seconds
_MOST_OF_PAIR = 20
_MOST_OF_ADDRESS = 100
_MOST_KEYS = 50_000


class SignInLimits:
    """Counts failures of the last ten minutes.

    Parameters
    ----------
    clock : function
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[Hashable, deque[float]] = {}
        self._turn = threading.Lock()

    def wait(self, name: str, address: str) -> float:
        """Return the seconds until a person called `name` may try again from `address`; 0 if at once."""
        with self._turn:
            pair, alone = self._left((name, address), _MOST_OF_PAIR), self._left(address, _MOST_OF_ADDRESS)
        return max(pair, alone)

    def fail(self, name: str, address: str) -> None:
        """Count a failure of `name` from `address`."""
        now = self._clock()
        with self._turn:
            if len(self._failures) > _MOST_KEYS:
                self._failures = {key: times for key, times in self._failures.items() if times[-1] > now - _WINDOW}
            for key, most in (((name, address), _MOST_OF_PAIR), (address, _MOST_OF_ADDRESS)):
                self._failures.setdefault(key, deque(maxlen=most)).append(now)

    def _left(self, key: Hashable, most: int) -> float:
        """Return the seconds until fewer than `most` failures of `key` lie within the window."""
        times = self._failures.get(key)
        return 0.0 if times is None or len(times) < most else max(0.0, times[0] + _WINDOW - self._clock())
