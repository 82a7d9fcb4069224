"""Calls that other threads and Ctrl-C cannot catch half done.

Every classifier has one lock. Methods that read its model hold it (`exclusive`), and methods that change the model also
hold Ctrl-C back (`uninterrupted`), so that every call finds the model as a whole call has left it. Methods called for
single rows take the lock themselves, which is cheaper. A lock belongs to one object: copies have their own.
"""

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from evolabel.interrupts import deliver, held

PATIENCE = 0.1  # seconds after which a call that waits for another thread lets Ctrl-C through


class Lockable(Protocol):
    """Anything with a lock, its own or that of the classifier it works on."""

    @property
    def _lock(self) -> Any: ...


S = TypeVar("S", bound=Lockable)
P = ParamSpec("P")
R = TypeVar("R")


class WithLock:
    """An object with a lock of its own, which is no part of its attributes: copies and clones have others."""

    __slots__ = ("_lock",)

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """An object with a new lock."""
        made = super().__new__(cls)
        made._lock = RLock()
        return made

    _lock: Any


def exclusive(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """The method, for one thread at a time."""

    @wraps(method)
    def call(self: S, /, *arguments: P.args, **named: P.kwargs) -> R:
        with self._lock:
            return method(self, *arguments, **named)

    return call


def uninterrupted(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """The method, for one thread at a time; Ctrl-C waits until it has ended, or until it calls `deliver`."""

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
