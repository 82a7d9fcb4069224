"""Inner kernels, compiled so that tests can call them."""

from functools import cache
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numba
from numba.core.dispatcher import Dispatcher

from evolabel.engine.compile import folder_of


@cache
def callable_kernel(kernel):
    """The same kernel with an entry point for Python, cached on disk; itself where compilation is switched off.

    One outside the package must import the kernels that it calls by `from evolabel.kernels.... import`.
    """
    if not isinstance(kernel, Dispatcher):
        return kernel
    folder = folder_of(Path(kernel.py_func.__code__.co_filename)) / "callable"  # kernels have the same names there
    folder.mkdir(parents=True, exist_ok=True)
    with patch.object(numba.config, "CACHE_DIR", str(folder)):
        return numba.njit(error_model="numpy", cache=True)(kernel.py_func)


class CallableKernels:
    """A module of kernels, each of which can be called; all other names are those of the module."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str):
        value = getattr(self._module, name)
        return callable_kernel(value) if isinstance(value, Dispatcher) else value
