"""`MachineCode`: the machine code of a kernel, from the package (`engine.installed_code`) or from the user's cache.

numba's own cache passes over folders that cannot be written to; here they are read.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from evolabel.engine.installed_code import Contents, checksum, package_folder, usable_contents

_Files: Any = CompileResultCacheImpl  # numba has no type annotations
_Cache: Any = FunctionCache
_IndexAndData: Any = IndexDataCacheFile


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
        installed = package_folder() / folder.name
        self._installed = InstalledCode(function, installed) if usable_contents() and installed.is_dir() else None

    def load_overload(self, types: Any, target: Any) -> Any:
        """Return the code for arguments of these `types` and this `target`; None if there is none."""
        code = self._installed and self._installed.load_overload(types, target)
        if code is not None:
            return code
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


class InstalledCode(_Cache):  # type: ignore[misc]
    """numba's cache of `function` in `folder` of the package, for every processor that fits; it is never written to.

    Parameters
    ----------
    function : function
    folder : Path
    """

    def __init__(self, function: Callable[..., object], folder: Path) -> None:
        self._impl_class = partial(_FilesIn, _Place(function, folder))
        super().__init__(function)
        self._cache_file = _ListedFiles(str(folder), self._impl.filename_base, folder.name)

    def load_overload(self, types: Any, target: Any) -> Any:
        """Return the code for arguments of these `types`; None if there is none, or if its file was changed."""
        try:
            return super().load_overload(types, target)
        except Exception:
            return None

    def _index_key(self, types: Any, codegen: Any) -> Any:
        """Return the key of the code without the processor: `usable_contents` has compared it."""
        return _without_processor(super()._index_key(types, codegen))


class _ListedFiles(_IndexAndData):  # type: ignore[misc]
    """Files of numba that are read only if the contents of the package list their checksum."""

    def _load_index(self) -> dict[Any, str]:
        self._version = self._compare(Path(self._index_path)).numba  # which differs in the last number at most
        return {_without_processor(key): name for key, name in super()._load_index().items()}

    def _load_data(self, name: str) -> Any:
        self._compare(Path(self._data_path(name)))
        return super()._load_data(name)

    def _compare(self, file: Path) -> Contents:
        """Return the contents of the package; raises OSError unless `file` is as they list it."""
        contents = usable_contents()
        if contents is None or contents.files.get(f"{file.parent.name}/{file.name}") != checksum(file):
            raise OSError(f"{file} is not as it was installed")
        return contents


def _without_processor(key: Any) -> Any:
    types, _, function = key
    return types, function


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
