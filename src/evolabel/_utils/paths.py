"""Paths as users give them."""

from os import PathLike
from pathlib import Path

from evolabel.errors import ParameterError


def as_path(path: str | PathLike[str]) -> Path:
    """Return `path` as a `Path`; ParameterError if it has a NUL character, which no name of a file may have."""
    found = Path(path)
    if "\0" in str(found):
        raise ParameterError(f"the path {str(found)!r} has a NUL character, which no file name may have; leave it out")
    return found
