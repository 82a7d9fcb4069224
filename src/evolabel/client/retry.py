"""When a request is sent again, and after how long."""

import random
import time
from dataclasses import dataclass

from evolabel.client.problem import ConnectionLostError, ServiceError

_NOTHING_DONE = (429, 507)  # by the promise of the service
_UNKNOWN = (502, 503, 504)  # of a proxy that may have lost the response, or of a commit whose end is not known
_PASSING = ("busy", "standby", "rebuilding", "starting")  # types of a 503 after which every request is sent again


@dataclass(frozen=True)
class Retry:
    """How long a request is tried.

    Parameters
    ----------
    seconds : float
        Time after which no further try begins; 0: a single try.
    first : float
        Seconds before the second try; they double with each further one.
    longest : float
        Most seconds between two tries.
    """

    seconds: float = 60.0
    first: float = 0.25
    longest: float = 10.0


class Tries:
    """The tries of one request.

    Parameters
    ----------
    retry : Retry
    repeatable : bool
        Whether the service does the same once where the request comes twice.
    """

    def __init__(self, retry: Retry, *, repeatable: bool) -> None:
        self._retry = retry
        self._repeatable = repeatable
        self._end = time.monotonic() + retry.seconds
        self._wait = retry.first

    def wait_after(self, error: Exception, *, sent: bool = True) -> float:
        """Return the seconds to wait after a try that ended in `error`; raises it if there is no further one.

        `sent`: the request may have reached the service.
        """
        refusal = error if isinstance(error, ServiceError) else None
        if refusal is None:
            again = self._repeatable or not sent
        else:
            is_passing = refusal.status == 503 and refusal.type in _PASSING
            is_unknown = refusal.status in _UNKNOWN
            again = refusal.status in _NOTHING_DONE or is_passing or (is_unknown and self._repeatable)
        asked = 0.0 if refusal is None else refusal.retry_after or 0.0
        wait = max(asked, self._wait * random.uniform(0.5, 1.0))
        if again and time.monotonic() + wait <= self._end:
            self._wait = min(2.0 * self._wait, self._retry.longest)
            return wait
        if refusal is not None:
            raise refusal
        raise ConnectionLostError(f"the service has not answered: {error or type(error).__name__}") from error
