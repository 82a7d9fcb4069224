"""Calls that other threads and Ctrl-C cannot catch half done.

Every classifier has one lock. Methods that read its model hold it (`exclusive`), and methods that change the model also
hold Ctrl-C back (`uninterrupted`), so that every call finds the model as a whole call has left it. Methods called for
single rows take the lock themselves, which is cheaper. A lock belongs to one object: copies have their own, and so have
the objects of a forked process.

Only Ctrl-C (SIGINT) is held back. A handler of another signal runs in the middle of a call, and the lock lets it in,
because it runs in the same thread: it must not use the classifier.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from evolabel._utils.interrupts import deliver, held

PATIENCE = 0.1  # seconds after which a call that waits for another thread lets Ctrl-C through


class Lockable(Protocol):
    """Anything with a lock, its own or that of the classifier it works on."""

    @property
    def _lock(self) -> Any: ...


S = TypeVar("S", bound=Lockable)
P = ParamSpec("P")
R = TypeVar("R")


def exclusive(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Return `method` for one thread at a time."""

    @wraps(method)
    def call(self: S, /, *arguments: P.args, **named: P.kwargs) -> R:
        with self._lock:
            return method(self, *arguments, **named)

    return call


def uninterrupted(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Return `method` for one thread at a time; Ctrl-C waits until it has ended, or until it calls `deliver`."""

    @wraps(method)
    def call(self: S, /, *arguments: P.args, **named: P.kwargs) -> R:
        with held():
            lock = self._lock
            while not lock.acquire(timeout=PATIENCE):
                deliver()
            try:
                return method(self, *arguments, **named)
            finally:
                lock.release()

    return call


@contextmanager
def unchanged_on_error(thing: object) -> Iterator[None]:
    """Restore all attributes of `thing` if an error is raised inside: bad input must leave no trace."""
    before = dict(thing.__dict__)
    try:
        yield
    except BaseException:
        thing.__dict__ = before
        raise
