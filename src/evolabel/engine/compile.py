"""How every kernel is compiled: one decorator, one folder for the machine code.

Kernels are compiled without any permission to reorder, fuse or approximate floating-point operations: the same source
gives the same bits, whichever kernels it is inlined into, however many rows are processed together and wherever an
array lies in memory. Sums that must be fast are written in lanes (`engine.lanes`).

Kernels do not count references: they work on arrays their callers hold, and the counting would cost more than the
arithmetic of a small model (docs/decisions/006-no-reference-counts.md). Those that allocate arrays
are declared by `allocating_kernel` and count references.

Machine code is kept in the user's cache folder, or in NUMBA_CACHE_DIR. Every file of kernels has a folder there, named
by a hash of its source, of the sources of all kernels it imports, of the options of compilation and of
NUMBA_BOUNDSCHECK. A change of any of them starts a new folder: numba itself checks the file of a kernel only, not the
kernels it calls, and not the switch for bounds checks. A folder that cannot be written to is read
(`engine.machine_code`).
"""

import hashlib
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
from numba.core import types

from evolabel._utils.folders import user_cache_folder
from evolabel.engine import calls, progress  # not `from ...progress import`: no part of `cache_name`
from evolabel.engine.machine_code import MachineCode

try:
    from evolabel.engine.compiler import InnerCompiler, KernelCompiler
except (
    ImportError,
    AttributeError,
):  # a numba that lacks what they replace compiles in its own way, which takes longer
    _AS_INNER: dict[str, Any] = {}
    _AS_KERNEL: dict[str, Any] = {}
else:
    _AS_INNER, _AS_KERNEL = {"pipeline_class": InnerCompiler}, {"pipeline_class": KernelCompiler}

F = TypeVar("F", bound=Callable[..., object])

_compile: Any = numba.njit
_config: Any = numba.config
_typeof: Any = numba.typeof
_unliteral: Any = types.unliteral
_OPTIONS = {"fastmath": False, "error_model": "numpy", "_nrt": False}
_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_OF_KERNELS = r"engine\.\w+|core\.pace|[\w.]+\.arrays|[\w.]*\bloops(?:\.\w+)*"  # modules of which kernels are made
_CACHE = "_cache"  # of numba's dispatcher, which `cache=True` would set
_TEMPLATES = "get_call_template", "get_overload"  # by which numba asks a callee for its types and its code

progress.register_progress()


def imported_sources(source: Path, package: Path, known: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """Return `source` and all files of kernels in `package` that it imports, directly or not, and those in `known`."""
    known |= {source}
    for name in _imported_names(source.read_text("utf-8")):
        module = package.joinpath(*name.split("."))
        file = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
        if file not in known:
            known = imported_sources(file, package, known)
    return known


@cache
def _imported_names(text: str) -> list[str]:
    """Return the modules of kernels that the source `text` imports; a source is part of many others."""
    return re.findall(rf"^ *from evolabel\.({_OF_KERNELS}) import", text, re.MULTILINE)


def cache_name(source: Path, package: Path, options: dict[str, object], bounds_check: object) -> str:
    """Return the name of the cache folder of the kernels in `source`, for these `options` and `bounds_check`."""
    digest = hashlib.sha256(repr((sorted(options.items()), bounds_check)).encode())
    for file in sorted(imported_sources(source, package)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{source.stem}-{digest.hexdigest()[:16]}"


@cache
def _cache_folder(source: Path) -> Path | None:
    """Return the cache folder of the kernels in `source`; None if the user has no home folder for it."""
    try:
        return folder_of(source)
    except RuntimeError:
        return None


def folder_of(source: Path) -> Path:
    """Return the folder of the machine code of the kernels in `source`, which may not exist yet."""
    return all_caches() / cache_name(source, Path(__file__).parents[1], _OPTIONS, _config.BOUNDSCHECK)


def all_caches() -> Path:
    """Return the folder with the machine code of all versions of the kernels; `make clean` removes it."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_folder()) / "evolabel" / "kernels"


def _declare(function: F, **options: object) -> F:
    """Return `function` as a kernel that is compiled on its first call and cached where that is possible.

    Other kernels that call it link its inner kernel: machine code of its own is only made where Python calls it.
    """
    if _config.DISABLE_JIT:
        return calls.with_recorded_calls(function)
    folder = _cache_folder(Path(function.__code__.co_filename))
    compiled: Any = _compile(**{**_AS_KERNEL, **_OPTIONS, **options})(function)
    if folder is not None:
        setattr(compiled, _CACHE, MachineCode(function, folder))
    callee = _declare_inner(function, **options)
    for name in _TEMPLATES:
        setattr(compiled, name, getattr(callee, name))
    return cast(F, compiled)


def _declare_inner(function: F, **options: object) -> F:
    """Return `function` as a kernel for other kernels, which hold its code: it is not cached by itself."""
    compiled: Any = _compile(**{**_AS_INNER, **_OPTIONS, **_NO_WRAPPERS, **options})(function)
    if not _config.DISABLE_JIT:
        _forget_constants(compiled)
    return cast(F, compiled)


def _forget_constants(compiled: Any) -> None:
    """Prevent calls with a constant from compiling the kernel `compiled` once more for that constant."""
    template = compiled.get_call_template
    compiled.get_call_template = lambda arguments, names: template(
        tuple(map(_unliteral, arguments)), {name: _unliteral(kind) for name, kind in names.items()}
    )


def kernel(function: F) -> F:
    """Return `function` compiled by numba on its first call; its machine code is cached on disk."""
    return _declare(function)


def allocating_kernel(function: F) -> F:
    """Return `function` as a kernel that allocates arrays, and so counts references."""
    return _declare(function, _nrt=True)


def inner(function: F) -> F:
    """Return `function` as a kernel for other kernels only (`engine.compiler`)."""
    return _declare_inner(function)


def inlined(function: F) -> F:
    """Return `function` as an inner kernel whose code is copied into its callers."""
    return _declare_inner(function, forceinline=True)


def interpreted(function: F) -> F:
    """Return the Python code of the kernel `function`: rare calls with NamedTuples would compile it once more.

    Kernels that it calls are interpreted, too: an inner kernel cannot be called from Python.
    """
    plain: Any = getattr(function, "py_func", None)
    if plain is None:
        return function
    names = {name: plain.__globals__[name] for name in plain.__code__.co_names if name in plain.__globals__}
    called = {name: interpreted(value) for name, value in names.items() if hasattr(value, "py_func")}
    if called:
        plain = FunctionType(plain.__code__, {**plain.__globals__, **called}, plain.__name__, plain.__defaults__)
    return cast(F, plain)


def direct(function: F) -> F:
    """Return the kernel `function` without numba's look-up of argument types, which takes longer than learning a row.

    Only for callers that always pass the same types: they are looked up by the first call.
    """
    if _config.DISABLE_JIT:
        return function
    compiled: Any = function
    entry: Any = None

    def call(*arguments: Any) -> Any:
        nonlocal entry
        if entry is not None:
            return entry(*arguments)
        result = compiled(*arguments)
        entry = _entry(compiled, arguments)
        return result

    return cast(F, call)


def direct_by_profile(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `direct` of a kernel `function` whose second and third argument may be None: one entry for each case."""
    if _config.DISABLE_JIT:
        return function
    compiled: Any = function
    entries: dict[tuple[bool, bool], Any] = {}

    def call(*arguments: Any) -> Any:
        profile = arguments[1] is None, arguments[2] is None
        entry = entries.get(profile)
        if entry is not None:
            return entry(*arguments)
        result = compiled(*arguments)
        entries[profile] = _entry(compiled, arguments)
        return result

    return call


def _entry(compiled: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the machine code of the kernel `compiled` for the types of `arguments`."""
    return compiled.overloads[tuple(map(_typeof, arguments))].entry_point
