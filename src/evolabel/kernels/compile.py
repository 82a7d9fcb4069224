"""How every kernel is compiled: one decorator, one folder for the machine code.

Kernels are compiled without any permission to reorder, fuse or approximate floating-point operations: the same source
gives the same bits, whichever kernels it is inlined into, however many rows are processed together and wherever an
array lies in memory. Sums that must be fast are written in lanes (`kernels.lanes`).

Kernels do not count references: they work on arrays their callers hold, and the counting would cost more than the
arithmetic of a small model (docs/decisions/006-no-reference-counts.md). Those that make arrays are marked so.

Machine code is kept in the user's cache folder, or in NUMBA_CACHE_DIR. Every file of kernels has a folder there, named
by a hash of its source, of the sources of all kernels it imports, of the options of compilation and of
NUMBA_BOUNDSCHECK. A change of any of them starts a new folder: numba itself looks at the file of a kernel only, not at
the kernels it calls, and not at the switch for bounds checks.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])

_compile: Any = numba.njit
_config: Any = numba.config
_OPTIONS = {"fastmath": False, "error_model": "numpy", "_nrt": False}
_NO_DOORS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def imported_sources(source: Path, package: Path, known: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """The file `source` and all files of kernels in `package` that it imports, directly or not."""
    known |= {source}
    for name in re.findall(r"^ *from evolabel\.kernels\.([\w.]+) import", source.read_text("utf-8"), re.MULTILINE):
        file = package.joinpath(*name.split(".")).with_suffix(".py")
        if file not in known:
            known = imported_sources(file, package, known)
    return known


def cache_name(source: Path, package: Path, options: dict[str, object], bounds_check: object) -> str:
    """Name of the folder for machine code of the kernels in the file `source`, compiled with these options."""
    digest = hashlib.sha256(repr((sorted(options.items()), bounds_check)).encode())
    for file in sorted(imported_sources(source, package)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{source.stem}-{digest.hexdigest()[:16]}"


@cache
def _cache_folder(source: Path) -> Path | None:
    """The folder for machine code of the kernels in `source`, made if need be; None if it cannot be written."""
    try:
        folder = all_caches() / cache_name(source, Path(__file__).parent, _OPTIONS, _config.BOUNDSCHECK)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return None
    return folder if os.access(folder, os.W_OK) else None


def all_caches() -> Path:
    """The folder that holds the machine code of all versions of the kernels; `make clean` removes it."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or _user_caches()) / "evolabel" / "kernels"


def _user_caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


@contextmanager
def _cached_in(folder: Path | None) -> Iterator[None]:
    """While a kernel is declared, numba's cache folder is ours; kernels of other libraries keep theirs."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(folder or "")
    try:
        yield
    finally:
        _config.CACHE_DIR = before


def _declare(function: F, **options: object) -> F:
    """The function as a kernel, compiled on its first call; its machine code is kept where that is possible."""
    folder = None if _config.DISABLE_JIT else _cache_folder(Path(function.__code__.co_filename))
    with _cached_in(folder):
        compiled: F = _compile(cache=folder is not None, **{**_OPTIONS, **options})(function)
    return compiled


def kernel(function: F) -> F:
    """Compile `function` with numba on first call and keep the machine code on disk."""
    return _declare(function)


def allocating_kernel(function: F) -> F:
    """A kernel that makes arrays of its own, and so must count references."""
    return _declare(function, _nrt=True)


def hot_kernel(function: F) -> F:
    """A kernel that only other kernels call, inlined there: the state's many arrays need not be handed over."""
    return _declare(function, **_NO_DOORS, forceinline=True)


def cold_kernel(function: F) -> F:
    """A kernel that only other kernels call, and rarely: without doors to Python and C it compiles faster."""
    return _declare(function, **_NO_DOORS)


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
