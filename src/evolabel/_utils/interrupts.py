"""Ctrl-C that waits until the state of a model is whole.

Python may raise KeyboardInterrupt between any two steps of the main thread, also between two arrays that must change
together. Inside a `held` block SIGINT is only remembered; it takes effect when the outermost block ends, or where
`deliver` is called. Other threads are never interrupted.
"""

import signal
import threading
from importlib import import_module
from types import FrameType
from typing import Any

# The function in C: that of the module `signal` looks up enumerations, which takes as long as learning a row.
try:
    _set: Any = import_module("_signal").signal
except ImportError:  # another Python
    _set = signal.signal

_SIGINT = int(signal.SIGINT)
_CAN_BE_PUT_BACK = signal.getsignal(_SIGINT) is not None  # Python does not know handlers that C has set

_waiting = False  # has SIGINT come while it was held back?
_handler: Any = None  # the handler that was put aside


class held:
    """A block that Ctrl-C cannot interrupt. Blocks may be nested; the outermost one counts."""

    def __enter__(self) -> None:
        global _handler
        self._handler: Any = None
        if not _CAN_BE_PUT_BACK:
            return
        try:
            handler = _set(_SIGINT, _remember)
        except ValueError:  # only the main thread receives signals
            return
        if handler is not _remember:
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
    """Let a Ctrl-C that waits take effect now, because the state is whole."""
    global _waiting, _handler
    if not _waiting or threading.current_thread() is not threading.main_thread():
        return
    _waiting = False
    _set(_SIGINT, _handler)
    try:
        _handle()
    finally:
        _handler = _set(_SIGINT, _remember)  # the handler may have put another in its place


def _handle() -> None:
    """Run the handler that was put aside; a function is called, because a second signal would run asyncio's twice."""
    if callable(_handler):
        _handler(_SIGINT, None)
    elif _handler == signal.SIG_DFL:
        signal.raise_signal(_SIGINT)


def _remember(number: int, frame: FrameType | None) -> None:
    global _waiting
    _waiting = True
