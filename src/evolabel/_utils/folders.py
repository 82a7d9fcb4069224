"""Folders of the user that the library writes to."""

import os
import sys
from pathlib import Path


def user_cache_folder() -> Path:
    """Return the folder in which programs of the user keep caches on this operating system.

    Raises RuntimeError if the user has no home folder.
    """
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
