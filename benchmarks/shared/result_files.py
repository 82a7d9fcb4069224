"""Results of the last runs: one JSON file per benchmark, in benchmarks/results."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "results"


def read(name: str) -> Any:
    return json.loads(_file(name).read_text())


def read_if_any(name: str, nothing: Any) -> Any:
    """The stored results of the benchmark `name`, or `nothing` if there is no file."""
    return read(name) if _file(name).exists() else nothing


def write(name: str, found: object, *, indent: int | None = 1) -> None:
    """Write `found` as the results of the benchmark `name`; a list has one line per entry."""
    from evolabel._utils.files import write_atomically  # earlier commits, which are measured too, lack it

    lines = ",\n".join(map(json.dumps, found)) if isinstance(found, list) else ""
    text = f"[\n{lines}\n]" if lines else json.dumps(found, indent=indent)
    FOLDER.mkdir(exist_ok=True)
    write_atomically(_file(name), f"{text}\n".encode())


def _file(name: str) -> Path:
    return FOLDER / f"{name}.json"
