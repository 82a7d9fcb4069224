"""Memory that a process may still use."""

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

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
        held = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
        return max(limit - int(held.get("anon", 0)), 0)
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
