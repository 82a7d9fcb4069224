"""Which kernels Python calls, and with which types: recorded where loops run as plain Python.

Types of arguments are known when a kernel is called, so compiling ahead means running a program that calls it. With
compilation switched off such a program takes a second, and what it calls can be compiled by many processes at once
(`engine.many_cores`).
"""

import os
from collections.abc import Callable
from functools import wraps
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeVar, cast

from evolabel.engine.packed_state import type_of

F = TypeVar("F", bound=Callable[..., object])

RECORD = "EVOLABEL_RECORD_CALLS"  # environment variable: 1 where calls are recorded
_IS_RECORDED = os.environ.get(RECORD) == "1"


class KernelCall(NamedTuple):
    """The `module` and `name` of a kernel, the `types` of its arguments, and the `size` of what has to be compiled.

    `size`: bytes of Python's code of the kernel and of all functions that it calls.
    """

    module: str
    name: str
    types: tuple[Any, ...]
    size: int


class _Recorder:
    """Sends each call of a kernel from outside of kernels to `send`, once for the same types."""

    def __init__(self) -> None:
        self.send: Callable[[KernelCall], object] | None = None
        self.known: set[tuple[object, ...]] = set()
        self.is_inside = False

    def record(self, function: Any, arguments: tuple[Any, ...]) -> None:
        """Send the call of `function` with these `arguments`, unless it was sent before."""
        if self.send is None:
            return
        call = KernelCall(
            function.__module__, function.__name__, tuple(map(type_of, arguments)), size_of_code(function)
        )
        if call not in self.known:
            self.known.add(call)
            self.send(call)


_recorder = _Recorder()


def record_calls(send: Callable[[KernelCall], object]) -> None:
    """Pass every new call of a kernel to `send` from now on, in a process that was started with `RECORD` set to 1."""
    _recorder.send = send


def with_recorded_calls(function: F) -> F:
    """Return the kernel `function`, which is not compiled, so that its calls are recorded if this process does that."""
    if not _IS_RECORDED:
        return function

    @wraps(function)
    def call(*arguments: Any) -> Any:
        if _recorder.is_inside:
            return function(*arguments)
        _recorder.record(function, arguments)
        _recorder.is_inside = True
        try:
            return function(*arguments)
        finally:
            _recorder.is_inside = False

    plain: Any = call
    plain.py_func = function  # as that of a compiled kernel
    return cast(F, call)


def size_of_code(function: FunctionType) -> int:
    """Return the bytes of Python's code of `function` and of all functions that it calls, each counted once."""
    found: set[CodeType] = set()
    waiting: list[Any] = [function]
    while waiting:
        each = waiting.pop()
        each = getattr(each, "py_func", each)
        if isinstance(each, FunctionType) and each.__code__ not in found:
            found.add(each.__code__)
            waiting += [each.__globals__.get(name) for name in each.__code__.co_names]
    return sum(len(code.co_code) for code in found)
