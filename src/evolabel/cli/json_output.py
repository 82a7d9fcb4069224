"""Outcomes as JSON, for machines."""

import sys
from json import dumps
from pathlib import Path

from evolabel._utils.atomic_files import write_atomically


def print_json(document: object) -> None:
    """To standard output, where nothing else goes then."""
    sys.stdout.write(_text(document))


def write_json(path: Path, document: object) -> None:
    """Into a file."""
    write_atomically(path, _text(document).encode())


def _text(document: object) -> str:
    return dumps(document, indent=1) + "\n"
