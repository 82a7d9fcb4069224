"""Where compiled kernels are, in the package and in the cache of the user, and what they are compiled for."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numba
from llvmlite import binding

from evolabel.engine.compile import all_caches, folder_of
from evolabel.engine.installed_code import Contents, checksum, package_folder, read_contents, why_not_used

_config: Any = numba.config
_CODE, _INDEX = "*.nbc", "*.nbi"  # files of numba: machine code, and the list of what is there


class KernelCache(NamedTuple):
    """The `folder` of compiled kernels.

    `compiled` is the number of source files whose kernels are compiled for this version, `megabytes` the size of their
    machine code, `other_megabytes` that of other versions.
    """

    folder: Path
    writable: bool
    compiled: int
    megabytes: float
    other_megabytes: float


def kernel_cache() -> KernelCache:
    """Return the state of the cache of compiled kernels; nothing is compiled or written."""
    folder = all_caches()
    sources = Path(__file__).parents[1].rglob("*.py")
    current = [own for own in map(folder_of, sources) if any(own.rglob(_INDEX))]
    size = sum(_size(own) for own in current)
    return KernelCache(folder, _can_write(folder), len(current), size / 1e6, (_size(folder) - size) / 1e6)


class PackagedCode(NamedTuple):
    """The machine code that the package brings: its `folder`, the `processor` that it is for, its size.

    `unused` is why this process compiles kernels instead; empty if it uses the code.
    """

    folder: Path
    processor: str
    megabytes: float
    unused: str


def packaged_code() -> PackagedCode | None:
    """Return the machine code that the package brings; None if it brings none, as in a checkout and a pure wheel."""
    folder = package_folder()
    contents = read_contents(folder)
    if contents is None:
        return None
    return PackagedCode(folder, contents.processor, _size(folder) / 1e6, _why_unused(folder, contents))


def _why_unused(folder: Path, contents: Contents) -> str:
    """Return why this process does not use the code in `folder`; empty if it does."""
    current = {folder_of(source).name for source in Path(__file__).parents[1].rglob("*.py")}
    if not any(Path(name).parts[0] in current for name in contents.files):
        return "it is of other sources"
    changed = sum(not _is_listed(folder / name, known) for name, known in contents.files.items())
    return f"{changed} of {len(contents.files)} files were changed" if changed else why_not_used(contents)


def _is_listed(file: Path, known: str) -> bool:
    """Return whether `file` is there and has the checksum `known`."""
    return file.is_file() and checksum(file) == known


def processor_name() -> str:
    """Return the name of the processor that kernels are compiled for: this one, or that of NUMBA_CPU_NAME."""
    return str(_config.CPU_NAME or binding.get_host_cpu_name())


def _size(folder: Path) -> int:
    """Return the bytes of machine code in `folder` and below."""
    return sum(file.stat().st_size for file in folder.rglob(_CODE))


def _can_write(folder: Path) -> bool:
    """Return whether `folder`, or the nearest folder above it that exists, can be written to."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), None)
    return there is not None and there.is_dir() and os.access(there, os.W_OK)
