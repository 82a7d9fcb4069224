"""Existing results are replaced only with `--force`, or after a person at the terminal has agreed."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evolabel._utils.text import one_line
from evolabel.errors import ParameterError

Force = Annotated[bool, Parameter(negative="")]
"""Option of a command: replace files that exist."""


def check_overwriting(files: Iterable[Path | None], *, force: bool) -> None:
    """Raise ParameterError if one of `files` exists, unless `force` or the person at the terminal agrees.

    None and devices such as /dev/stdout are never in the way.
    """
    existing = next((file for file in files if file is not None and file.is_file()), None)
    if force or existing is None or _agrees(existing):
        return
    raise ParameterError(f"{existing} exists; use --force to replace it, or another place to write to")


def _agrees(file: Path) -> bool:
    """Return whether the person at the terminal agrees that `file` is replaced; False where there is no terminal."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(one_line(f"{file} exists; replace it? [y/N] "))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
