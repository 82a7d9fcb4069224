"""Blocks and calls that Ctrl-C and other threads cannot catch half done, so that the state of a model stays consistent.

Python may raise KeyboardInterrupt between any two steps of the main thread, also between two arrays that must change
together. Inside a `held` block SIGINT is only recorded; it takes effect when the outermost block ends, or where
`deliver` is called. Other threads are never interrupted.

Every classifier has one lock. Methods that read its model hold it (`exclusive`), and methods that change the model also
hold Ctrl-C back (`uninterrupted`), so that every call finds the model as a whole call has left it. Methods called for
single rows take the lock themselves, which is cheaper. A lock belongs to one object: copies have their own, and so have
the objects of a forked process.

Only Ctrl-C (SIGINT) is held back. A handler of another signal runs in the middle of a call, and the lock lets it in,
because it runs in the same thread: it must not use the classifier.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from types import FrameType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

# The function in C. The one of the module `signal` looks up enumerations, which takes as long as learning a row.
try:
    _set: Any = import_module("_signal").signal
except ImportError:  # other implementations of Python
    _set = signal.signal

_SIGINT = int(signal.SIGINT)
_CAN_BE_RESTORED = signal.getsignal(_SIGINT) is not None  # None: the handler was set from C and cannot be restored

PATIENCE = 0.1  # seconds after which a call that waits for another thread lets Ctrl-C through

_waiting = False  # SIGINT has come inside a block
_handler: Any = None  # the handler from before the outermost block


class held:
    """Context manager: Ctrl-C takes effect at the end of the block. Blocks may be nested; the outermost one counts."""

    def __enter__(self) -> None:
        global _handler
        self._handler: Any = None
        if not _CAN_BE_RESTORED:
            return
        try:
            handler = _set(_SIGINT, _record)
        except ValueError:  # only the main thread receives signals
            return
        if handler is not _record:
            self._handler = _handler = handler

    def __exit__(self, *_: object) -> None:
        global _waiting
        if self._handler is None:
            return
        waiting, _waiting = _waiting, False
        _set(_SIGINT, _handler)
        if waiting or _waiting:
            _waiting = False
            _handle()


def deliver() -> None:
    """Let a recorded Ctrl-C take effect now; to be called where the state is consistent."""
    global _waiting, _handler
    if not _waiting or threading.current_thread() is not threading.main_thread():
        return
    _waiting = False
    _set(_SIGINT, _handler)
    try:
        _handle()
    finally:
        _handler = _set(_SIGINT, _record)  # the handler may have set another one


def _handle() -> None:
    """Run the handler from before the block. It is called, because a second signal would run that of asyncio twice."""
    if callable(_handler):
        _handler(_SIGINT, None)
    elif _handler == signal.SIG_DFL:
        signal.raise_signal(_SIGINT)


def _record(number: int, frame: FrameType | None) -> None:
    global _waiting
    _waiting = True


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
