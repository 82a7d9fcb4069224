"""What the arrays of a model will take, compared with the memory available before anything is allocated."""

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from evolabel.core.options import Options
from evolabel.errors import OutOfMemoryError
from evolabel.stages.rules.arrays import FIRST_CAPACITY

GIB = 2**30

_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def memory_available() -> int | None:
    """Return the bytes that this process may still use, as far as the system shows it; None if it does not.

    Linux: what is free or can be freed, at most what the limits of the control group and of the process allow.
    Windows: free physical memory. Other systems: all physical memory.
    """
    if sys.platform == "win32":
        return _windows()
    found = [limit() for limit in (_meminfo, _cgroup, _process_limit)]
    known = [size for size in found if size is not None]
    return min(known) if known else _physical()


def _meminfo() -> int | None:
    with suppress(OSError, ValueError, StopIteration, IndexError):
        line = next(line for line in _MEMINFO.read_text().splitlines() if line.startswith("MemAvailable:"))
        return 1024 * int(line.split()[1])
    return None


def _cgroup() -> int | None:
    """Return the limit of the control group, less what its processes hold apart from cached files."""
    with suppress(OSError, ValueError):
        limit = int((_CGROUP / "memory.max").read_text())  # ValueError for "max"
        usage = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
        return max(limit - int(usage.get("anon", 0)), 0)
    return None


def _process_limit() -> int | None:
    """Return the limit of the address space of this process; None if there is none."""
    with suppress(ImportError, OSError):
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
        return None if soft == resource.RLIM_INFINITY else soft
    return None


def _physical() -> int | None:
    with suppress(AttributeError, OSError, ValueError):
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return size if size > 0 else None
    return None


def _windows() -> int | None:
    """Return the free physical memory by GlobalMemoryStatusEx: two 32-bit numbers, then seven of 64 bits."""
    status = (ctypes.c_uint32 * 16)(64)
    windows = getattr(ctypes, "windll", None)
    if windows is None or not windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(status[4]) | int(status[5]) << 32


Need = Callable[[int, int, Any, int], int]
"""Returns the bytes that a rule base takes, as `RuleKind.memory_need`."""

_ALWAYS_FITS = GIB // 4  # bytes; smaller models are not compared, because reading the memory available takes time


def check_memory(n_features: int, n_labels: int, options: Options, need_of: Need, of_stages: int = 0) -> None:
    """Raise OutOfMemoryError if the first arrays of a model of `n_features`, `n_labels` and `options` do not fit.

    These have slots for `max_rules` rules, for 32 if it is larger, and take what `need_of` returns; arrays of stages of
    a user take the bytes `of_stages`. Nothing is raised where the system does not show the memory available.
    """
    if n_features == 0 or n_labels == 0:
        return

    def need_for(rules: int) -> int:
        return of_stages + need_of(n_features, n_labels, options, rules)

    rules = min(FIRST_CAPACITY, int(options.max_rules))
    need = need_for(rules)
    available = memory_available() if need > _ALWAYS_FITS else None
    if available is None or need <= available:
        return
    fits = (r for r in range(rules - 1, 0, -1) if need_for(r) <= available)
    fitting = next(fits, None)
    way = "fewer features" if fitting is None else f"max_rules={fitting} or fewer features"
    per_rule = need - need_for(rules - 1)
    own = f", {of_stages / GIB:.3g} GiB of them for its stages" if of_stages else ""
    raise OutOfMemoryError(
        f"{n_features} features and {n_labels} labels need {need / GIB:.3g} GiB for {rules} rules "
        f"(max_rules={options.max_rules}, {per_rule / GIB:.3g} GiB per rule){own}, "
        f"{available / GIB:.3g} GiB are available; use {way}"
    )


def check_growth(per_rule: int, rules: int, larger: int) -> None:
    """Raise OutOfMemoryError if slots for `larger` rules, of `per_rule` bytes each, do not fit; `rules` are in use."""
    need = larger * per_rule
    available = memory_available() if need > _ALWAYS_FITS else None
    if available is not None and need > available:
        raise OutOfMemoryError(
            f"there are {rules} rules, and slots for {larger} need {need / GIB:.3g} GiB, {available / GIB:.3g} GiB are "
            f"available; fit a model with max_rules={rules}, or one that starts fewer rules by a larger vigilance"
        )
