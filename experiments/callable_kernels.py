"""Inner kernels, compiled so that experiments and tests can call them."""

from functools import cache
from types import ModuleType

import numba
from numba.core.dispatcher import Dispatcher


@cache
def callable_kernel(kernel):
    """The same kernel with an entry point for Python; itself where compilation is switched off."""
    if not isinstance(kernel, Dispatcher):
        return kernel
    return numba.njit(error_model="numpy")(kernel.py_func)


class CallableKernels:
    """A module of kernels, each of which can be called; all other names are those of the module."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str):
        value = getattr(self._module, name)
        return callable_kernel(value) if isinstance(value, Dispatcher) else value
