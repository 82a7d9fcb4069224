"""`MachineCode`: the machine code of a kernel in a folder, read also where nothing can be written.

numba's own cache passes over folders that cannot be written to, so a read-only container would compile its kernels at
every start, though its image has them.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache

_Files: Any = CompileResultCacheImpl  # numba has no type annotations
_Cache: Any = FunctionCache


class MachineCode(_Cache):  # type: ignore[misc]
    """numba's cache of `function` in `folder`, whose name stands for the sources of the kernel.

    Code whose files cannot be read, or are damaged, is compiled again; files that cannot be written are left out.

    Parameters
    ----------
    function : function
    folder : Path
    """

    def __init__(self, function: Callable[..., object], folder: Path) -> None:
        self._impl_class = partial(_FilesIn, _Place(function, folder))
        super().__init__(function)

    def load_overload(self, types: Any, target: Any) -> Any:
        """Return the code for arguments of these `types` and this `target`; None if there is none."""
        try:
            return super().load_overload(types, target)
        except OSError:
            return None
        except Exception:
            with suppress(OSError):
                self.flush()  # the list of files, so that the next code is stored again
            return None

    def save_overload(self, types: Any, code: Any) -> None:
        """Store `code` for arguments of these `types`, if the folder can be written to."""
        with suppress(OSError):
            super().save_overload(types, code)


class _FilesIn(_Files):  # type: ignore[misc]
    """How numba names and writes the files in a `place`."""

    def __init__(self, place: "_Place", function: Callable[..., object]) -> None:
        self._locator_classes = [place]
        super().__init__(function)


class _Place:
    """What numba calls a locator: where the code of `function` is, in `folder`, and what its source is."""

    def __init__(self, function: Callable[..., object], folder: Path) -> None:
        self._py_file = function.__code__.co_filename
        self._line = function.__code__.co_firstlineno
        self._folder = folder

    def from_function(self, function: object, file: str) -> "_Place":
        """Return the place itself: it was made for this `function` in this `file`."""
        return self

    def get_cache_path(self) -> str:
        """Return the folder of the compiled files."""
        return str(self._folder)

    def ensure_cache_path(self) -> None:
        """Create the folder, before code is written."""
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        """Return the name of the folder, which holds a hash of the sources."""
        return self._folder.name

    def get_disambiguator(self) -> str:
        """Return the line of the function, which is part of the names of its files."""
        return str(self._line)
