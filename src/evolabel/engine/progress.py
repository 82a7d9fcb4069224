"""One line on standard error while kernels are compiled for more than two seconds.

Kernels are compiled on first use and cached on disk, so the line appears once per machine and version. On a terminal it
counts the kernels, of those that the first `fit` needs, and is erased when a compilation ends, so that it never mixes
with the output of the program. Where standard error is no terminal (a file, a pipe, the journal of a service), or was
replaced (by a notebook or a progress bar), the line is printed once per process, without a count, and stays.
EVOLABEL_QUIET=1 switches it off.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import current_process
from time import monotonic
from typing import Any

from numba.core.event import Listener, register

_register: Any = register
_LINE = "evolabel: compiling for this machine, once; 20 to 60 s of CPU"  # with the count at most 79 columns
_FIRST_FIT = 210  # kernels that the first `fit` or `partial_fit` compiles
_PATIENCE_SECONDS = 2.0
_ERASE = "\r" + " " * 79 + "\r"  # understood by every terminal


class _Line:
    """The line, which appears when `seconds` of waiting are over.

    `erase` removes it from a terminal; elsewhere it is printed once per process.
    """

    def __init__(self) -> None:
        self.silent = False
        self._on_screen = False
        self._printed = False

    def show(self, seconds: float, text: str, counted: str) -> None:
        """Print `text`, on a terminal with what was `counted`, after more than two `seconds`."""
        is_quiet = self.silent or os.environ.get("EVOLABEL_QUIET") == "1"
        if seconds <= _PATIENCE_SECONDS or is_quiet or current_process().name != "MainProcess":
            return
        if _is_terminal():
            self._on_screen = True
            _write(f"\r{text}: {counted}")
        elif not self._printed:
            self._printed = True
            _write(f"{text} (EVOLABEL_QUIET=1 hides this line)\n")

    def erase(self) -> None:
        """Remove the line from a terminal, if it is there."""
        if self._on_screen:
            self._on_screen = False
            _write(_ERASE)


class CompilationProgress(Listener):
    """Listener of numba's compile events, which are sent for kernels that were not found in the cache.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.line = _Line()
        self._clock = clock
        self._seconds = 0.0  # of finished compilations
        self._start = 0.0  # of the compilation that runs now
        self._depth = 0  # kernels are compiled inside the kernels that call them
        self._n_kernels = 0

    def on_start(self, event: Any) -> None:
        """Print the line at the start of the compilation `event`, if compiling has taken longer than two seconds."""
        if _is_kernel(event):
            if self._depth == 0:
                self._start = self._clock()
            self._depth += 1
            self._print()

    def on_end(self, event: Any) -> None:
        """Count the kernel of the compilation `event`; erase the line if no other kernel is being compiled."""
        if _is_kernel(event):
            self._depth -= 1
            self._n_kernels += 1
            if self._depth > 0:
                self._print()
                return
            self._seconds += self._clock() - self._start
            self.line.erase()

    def _print(self) -> None:
        n = self._n_kernels
        counted = f"{n} of about {_FIRST_FIT}" if n < _FIRST_FIT else f"{n} kernels"
        self.line.show(self._seconds + self._clock() - self._start, _LINE, counted)


class CountedProgress:
    """The line while `n_processes` compile kernels for this one.

    Parameters
    ----------
    n_processes : int
    clock : callable
        Returns the time in seconds.
    """

    def __init__(self, n_processes: int, clock: Callable[[], float] = monotonic) -> None:
        self._line = register_progress().line
        self._text = f"evolabel: compiling for this machine, once, in {n_processes} processes"
        self._clock, self._start = clock, clock()

    def show(self, done: int, known: int) -> None:
        """Print the line: `done` of the `known` kernels are compiled."""
        self._line.show(self._clock() - self._start, self._text, f"{done} of {known}")

    def end(self) -> None:
        """Erase the line."""
        self._line.erase()


@cache
def register_progress() -> CompilationProgress:
    """Return the listener of this process; the first call registers it with numba."""
    listener = CompilationProgress()
    _register("numba:compile", listener)
    return listener


@contextmanager
def silenced(silent: bool = True) -> Iterator[None]:
    """Print nothing inside the `with` block, if `silent`."""
    line = register_progress().line
    before, line.silent = line.silent, silent or line.silent
    try:
        yield
    finally:
        line.silent = before


def _is_kernel(event: Any) -> bool:
    """Return whether `event` is about a function of this library, not of another one."""
    function = getattr(event.data["dispatcher"], "py_func", None)
    return str(getattr(function, "__module__", "")).startswith("evolabel.")


def _is_terminal() -> bool:
    stream = sys.stderr
    return stream is not None and not stream.closed and stream.isatty() and stream is sys.__stderr__


def _write(text: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # a closed stream must not stop the compilation
            sys.stderr.write(text)
            sys.stderr.flush()
