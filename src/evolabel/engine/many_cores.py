"""Kernels compiled by as many processes as there are cores, before a program calls them.

One process runs the program with compilation switched off and sends which kernels it calls (`engine.calls`). The others
compile them, those with the most code first, and store the machine code where the program will look for it. A kernel
is compiled by one process at a time, whatever the types of its arguments: its files list them all.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

import numba

from evolabel.engine.calls import RECORD, KernelCall, record_calls
from evolabel.engine.progress import CountedProgress
from evolabel.errors import StateError

_config: Any = numba.config
_MOST_PROCESSES = 8  # the longest kernel takes a quarter of the time of all, so that further ones would have no work
_INTERPRETED = {"NUMBA_DISABLE_JIT": "1", RECORD: "1"}
_END, _IS_COMPILED = None, ""


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compile_ahead(program: Callable[[], object], cores: int) -> None:
    """Compile the kernels that `program`, a function of a module, calls, in as many processes as there are `cores`.

    What is in the cache is not compiled again, and nothing is done on one core. StateError if one of the processes
    fails; all of them have ended then, as after Ctrl-C.
    """
    if cores == 1 or _config.DISABLE_JIT:
        return
    n_processes = min(cores, _MOST_PROCESSES)
    team = _Team(CountedProgress(n_processes))
    try:
        with _environment(_INTERPRETED):
            recorder = team.start(_record, program)
        team.compile(recorder, n_processes)
    finally:
        team.end()


def _record(connection: Connection, program: Callable[[], object]) -> None:
    """Send the calls of kernels of `program` through `connection`, then `_END`, or what is wrong with the program."""
    record_calls(connection.send)
    try:
        program()
    except Exception as error:
        connection.send(_words(error))
    else:
        connection.send(_END)


def _compile(connection: Connection) -> None:
    """Compile the kernels whose calls come through `connection`; answer each by `_IS_COMPILED` or by what is wrong."""
    while True:
        try:
            call = connection.recv()
        except EOFError:  # the process that sent them has ended
            return
        try:
            getattr(import_module(call.module), call.name).compile(call.types)
        except Exception as error:
            connection.send(_words(error))
        else:
            connection.send(_IS_COMPILED)


def _words(error: Exception) -> str:
    """Return the kind and the first line of `error`."""
    return f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"


class _Team:
    """The processes that work for this one, and the calls that wait for them; `progress` counts the calls."""

    def __init__(self, progress: CountedProgress) -> None:
        self._processes: dict[Connection, Any] = {}
        self._waiting: list[KernelCall] = []
        self._busy: dict[Connection, KernelCall] = {}
        self._progress = progress
        self._done = 0

    def start(self, work: Callable[..., None], *arguments: object) -> Connection:
        """Start a process that does `work` with a connection to this one and the `arguments`; return its connection."""
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, *arguments), daemon=True)
        with _without_interrupts():
            process.start()
        theirs.close()
        self._processes[ours] = process
        return ours

    def compile(self, recorder: Connection, n_processes: int) -> None:
        """Compile what `recorder` sends, until it ends, by at most `n_processes`."""
        compilers: set[Connection] = set()
        sources = {recorder}
        while sources or self._waiting or self._busy:
            idle = compilers - self._busy.keys()
            while call := self._next_call():
                if not idle and len(compilers) < n_processes:
                    idle.add(self.start(_compile))
                    compilers |= idle
                if not idle:
                    break
                self._send(idle.pop(), call)
            for connection in wait([*sources, *self._busy]):
                assert isinstance(connection, Connection)
                if connection is not recorder:
                    self._finish(connection)
                elif not self._read_call(recorder):
                    sources.clear()
            self._progress.show(self._done, self._done + len(self._waiting) + len(self._busy))

    def _next_call(self) -> KernelCall | None:
        """Return the waiting call with the most code, of kernels that no process compiles; None if there is none."""
        busy = {(call.module, call.name) for call in self._busy.values()}
        free = [call for call in self._waiting if (call.module, call.name) not in busy]
        return max(free, key=lambda call: call.size, default=None)

    def _send(self, compiler: Connection, call: KernelCall) -> None:
        """Have the process of the connection `compiler` compile the kernel of `call`."""
        self._waiting.remove(call)
        self._busy[compiler] = call
        with self._ended_means_error(compiler):
            compiler.send(call)

    def _read_call(self, recorder: Connection) -> bool:
        """Take the next call from `recorder`; return whether there was one."""
        with self._ended_means_error(recorder):
            found = recorder.recv()
        if isinstance(found, str):
            raise StateError(f"the kernels to compile were not found: {found}")
        if found is not _END:
            self._waiting.append(found)
        return found is not _END

    def _finish(self, compiler: Connection) -> None:
        """Take the answer of the process of the connection `compiler`."""
        with self._ended_means_error(compiler):
            problem = compiler.recv()
        call = self._busy.pop(compiler)
        if problem != _IS_COMPILED:
            raise StateError(f"{call.module}.{call.name} cannot be compiled: {problem}")
        self._done += 1

    @contextmanager
    def _ended_means_error(self, connection: Connection) -> Iterator[None]:
        """Raise StateError if the process of the `connection` has ended inside the `with` block."""
        try:
            yield
        except (EOFError, OSError):
            process = self._processes[connection]
            process.join()
            raise StateError(
                f"a process that compiles kernels has ended with code {process.exitcode}; "
                "if there was not enough memory, allow fewer cores, as by `taskset 1 evolabel ready`"
            ) from None

    def end(self) -> None:
        """End all processes, whatever they do, and erase the line of the progress."""
        for process in self._processes.values():
            process.terminate()
        for connection, process in self._processes.items():
            process.join()
            connection.close()
        self._progress.end()


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment `variables` inside the `with` block, for processes that are started there."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Have processes that are started inside the `with` block never see Ctrl-C; this one sees it afterwards.

    A terminal sends it to all of them, and each would print where it was. This process ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which the first process starts otherwise, and which lets signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
