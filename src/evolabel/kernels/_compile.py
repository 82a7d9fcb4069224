"""How every kernel is compiled: one decorator, one set of floating-point permissions.

The permissions let the compiler vectorise sums and fuse multiply-adds. `nnan` and `ninf` are left out on purpose:
NaN is data here (a missing feature, an unannotated label) and must never be optimised away.

Kernels do not count references: they work on arrays their callers hold, and the counting would cost more than the
arithmetic of a small model (docs/decisions/006-no-reference-counts.md). Those that make arrays are marked so.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

FAST_BUT_NAN_SAFE = {"nsz", "arcp", "contract", "afn", "reassoc"}

F = TypeVar("F", bound=Callable[..., object])

_compile: Any = numba.njit
_OPTIONS = {"cache": True, "fastmath": FAST_BUT_NAN_SAFE, "error_model": "numpy", "_nrt": False}
_NO_DOORS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: F) -> F:
    """Compile `function` with numba on first call and keep the machine code on disk."""
    compiled: F = _compile(**_OPTIONS)(function)
    return compiled


def allocating_kernel(function: F) -> F:
    """A kernel that makes arrays of its own, and so must count references."""
    compiled: F = _compile(**{**_OPTIONS, "_nrt": True})(function)
    return compiled


def hot_kernel(function: F) -> F:
    """A kernel that only other kernels call, inlined there: the state's many arrays need not be handed over."""
    compiled: F = _compile(**_OPTIONS, **_NO_DOORS, forceinline=True)(function)
    return compiled


def cold_kernel(function: F) -> F:
    """A kernel that only other kernels call, and rarely: without doors to Python and C it compiles faster."""
    compiled: F = _compile(**_OPTIONS, **_NO_DOORS)(function)
    return compiled


def direct(dispatcher: F) -> F:
    """The same kernel without numba's look-up of argument types, which costs more than learning a row.

    Only for callers that always pass the same types, as `core.rule_base` does: the look-up is made once, by the first
    call, and skipped as long as the kernel was compiled for these types only.
    """
    compiled: Any = dispatcher
    entry: Any = None

    def call(*arguments: Any) -> Any:
        nonlocal entry
        if entry is not None:
            return entry(*arguments)
        result = compiled(*arguments)
        overloads = getattr(compiled, "overloads", {})  # none where compilation is switched off
        if len(overloads) == 1:
            entry = next(iter(overloads.values())).entry_point
        return result

    return cast(F, call)
