"""Inner kernels, compiled so that experiments and tests can call them."""

from functools import cache
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numba
from numba.core.dispatcher import Dispatcher

from evolabel import kernels
from evolabel.kernels.compile import folder_of


@cache
def callable_kernel(kernel):
    """The same kernel with an entry point for Python, cached on disk if it is one of the package; itself where
    compilation is switched off.
    """
    if not isinstance(kernel, Dispatcher):
        return kernel
    source = Path(kernel.py_func.__code__.co_filename)
    if not source.is_relative_to(Path(kernels.__file__).parent):
        return numba.njit(error_model="numpy")(kernel.py_func)
    folder = folder_of(source) / "callable"  # kernels have the same names there
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
