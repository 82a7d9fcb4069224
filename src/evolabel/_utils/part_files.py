"""Names of temporary files and folders by their writer, and removal of those whose writer no longer runs."""

import os
import platform
import re
import secrets
import shutil
import zlib
from contextlib import suppress
from pathlib import Path

_PART = re.compile(r"\..*\.(?P<pid>\d+)-(?P<host>[0-9a-f]{8})-[0-9a-f]{16}\.part", re.DOTALL)


def part_name(name: str) -> str:
    """Return a new hidden name for a part of the file `name`; it has the process and the computer that write it."""
    return f".{name}.{os.getpid()}-{_host()}-{secrets.token_hex(8)}.part"


def remove_dead_parts(folder: Path) -> None:
    """Delete the files and folders in `folder` named by `part_name` whose process has ended.

    Those of other computers stay, because their processes cannot be seen from here; so do those that may not be
    deleted.
    """
    with suppress(OSError):
        found = [(entry, match) for entry in os.scandir(folder) if (match := _PART.fullmatch(entry.name))]
        for entry, match in found:
            if match["host"] == _host() and not _is_running(int(match["pid"])):
                _remove(entry)


def _remove(entry: "os.DirEntry[str]") -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(entry.path)


def _host() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _is_running(pid: int) -> bool:
    """Return whether a process `pid` may be running; always True on Windows, where signal 0 would end it."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
