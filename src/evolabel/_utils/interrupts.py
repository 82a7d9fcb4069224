"""Blocks of code that Ctrl-C does not interrupt, so that the state of a model stays consistent.

Python may raise KeyboardInterrupt between any two steps of the main thread, also between two arrays that must change
together. Inside a `held` block SIGINT is only recorded; it takes effect when the outermost block ends, or where
`deliver` is called. Other threads are never interrupted.
"""

import signal
import threading
from importlib import import_module
from types import FrameType
from typing import Any

# The function in C. The one of the module `signal` looks up enumerations, which takes as long as learning a row.
try:
    _set: Any = import_module("_signal").signal
except ImportError:  # other implementations of Python
    _set = signal.signal

_SIGINT = int(signal.SIGINT)
_CAN_BE_RESTORED = signal.getsignal(_SIGINT) is not None  # None: the handler was set from C and cannot be restored

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
