"""What a search has found so far, kept in a file: an interrupted search goes on where it was.

JSON lines: the first says what is searched, every further one holds the scores of one structure on one fold.
"""

import hashlib
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from evolabel._utils.atomic_files import name_in_errors, write_atomically
from evolabel.errors import CheckpointError
from evolabel.typing import FloatArray

Task = tuple[int, int]
"""Number of the structure, number of the fold."""


class Notes:
    """Scores by task, in memory and, if there is a path, in a file."""

    def __init__(self, path: "str | PathLike[str] | None", facts: dict[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self.scores: dict[Task, list[float]] = {}
        try:
            self._open(facts)
        except OSError as error:
            raise CheckpointError(f"{path} cannot hold the notes of a search ({error}); give another path") from None

    def add(self, task: Task, scores: list[float]) -> None:
        """A task is done."""
        self.scores[task] = scores
        if self.path is None:
            return
        with name_in_errors(self.path), self.path.open("a") as file:
            file.write(_line({"task": task, "scores": scores}))

    def _open(self, facts: dict[str, Any]) -> None:
        """Go on with what is there; a file that holds nothing but the beginning of the first line is begun anew."""
        if self.path is None:
            return
        head = _line({"search": facts})
        if self.path.exists() and not head.encode().startswith(self.path.read_bytes()):
            self._read(self.path, facts)
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, head.encode())

    def _read(self, path: Path, facts: dict[str, Any]) -> None:
        """Complete lines only: the last one may have been cut when the search was killed."""
        try:
            lines = path.read_text().splitlines(keepends=True)
            whole = [line for line in lines if line.endswith("\n")]
            first, *rest = map(json.loads, whole)
            known = dict(first["search"])
            self.scores = {tuple(line["task"]): line["scores"] for line in rest}
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{path} holds no search ({error}); delete it to start anew") from None
        different = sorted(name for name in facts if known.get(name) != json.loads(_line(facts[name])))
        if different:
            raise CheckpointError(
                f"{path} belongs to another search ({', '.join(different)} differ); delete it, or give another path"
            )
        if len(whole) < len(lines):
            write_atomically(path, "".join(whole).encode())


def _line(value: object) -> str:
    """A line of JSON; numbers of numpy are plain numbers."""
    return json.dumps(value, default=np.generic.item) + "\n"


def fingerprint(*tables: FloatArray) -> str:
    """A digest of the data."""
    digest = hashlib.sha256()
    for table in tables:
        digest.update(str(table.shape).encode() + table.tobytes())
    return digest.hexdigest()
