"""What the last runs have found: one JSON file per benchmark, in benchmarks/results."""

import json
from pathlib import Path
from typing import Any

from evolabel._utils.atomic_files import write_atomically

FOLDER = Path(__file__).parent / "results"


def read(name: str) -> Any:
    return json.loads(_file(name).read_text())


def read_if_any(name: str, nothing: Any) -> Any:
    """What is known so far, or `nothing`."""
    return read(name) if _file(name).exists() else nothing


def write(name: str, found: object, *, indent: int | None = 1) -> None:
    """A list has a line for every entry; anything else is indented, or one line."""
    lines = ",\n".join(map(json.dumps, found)) if isinstance(found, list) else ""
    text = f"[\n{lines}\n]" if lines else json.dumps(found, indent=indent)
    FOLDER.mkdir(exist_ok=True)
    write_atomically(_file(name), f"{text}\n".encode())


def _file(name: str) -> Path:
    return FOLDER / f"{name}.json"
