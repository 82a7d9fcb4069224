"""Paths as users give them."""

from os import PathLike, fsencode
from pathlib import Path

from evolabel.errors import ParameterError

_LONGEST_NAME = 255  # bytes


def as_path(path: str | PathLike[str]) -> Path:
    """Return `path` as a `Path`; ParameterError if no file can be called so: a NUL character, or a name too long."""
    found = Path(path)
    if "\0" in str(found):
        raise ParameterError(f"the path {str(found)!r} has a NUL character, which no file name may have; leave it out")
    if too_long := [name for name in found.parts if len(fsencode(name)) > _LONGEST_NAME]:
        raise ParameterError(
            f"the name {too_long[0][:20]!r}... in the path has {len(fsencode(too_long[0]))} bytes, a file may have "
            f"{_LONGEST_NAME}; use a shorter one"
        )
    return found
