"""What the last runs have found: one JSON file per benchmark, in benchmarks/results."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())


def write(name: str, found: object) -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
