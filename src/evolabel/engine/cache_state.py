"""`kernel_cache`: where compiled kernels are kept, and what is there; `processor_name`: what they are compiled for."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numba
from llvmlite import binding

from evolabel.engine.compile import all_caches, folder_of

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
    sources = Path(__file__).parent.rglob("*.py")
    current = [own for own in map(folder_of, sources) if any(own.rglob(_INDEX))]
    size = sum(_size(own) for own in current)
    return KernelCache(folder, _can_write(folder), len(current), size / 1e6, (_size(folder) - size) / 1e6)


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
