"""The checkpoint file of a search: an interrupted search continues from it.

The file has JSON lines. The first line describes the search, every further line has the scores of one structure on one
fold.
"""

import hashlib
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from evolabel._utils.files import as_path, name_in_errors, write_atomically
from evolabel._utils.json_text import parse_json
from evolabel.errors import CheckpointError
from evolabel.typing import FloatArray

Task = tuple[int, int]
"""Index of the structure, index of the fold."""


class SearchCheckpoint:
    """The `scores` of finished tasks, in memory and, if there is a `path`, in a file.

    The file is created, or continued if it belongs to the same search: to one of the same `settings`, on which scores
    depend. Any other file is refused with CheckpointError.
    """

    def __init__(self, path: "str | PathLike[str] | None", settings: dict[str, Any]) -> None:
        self.path = None if path is None else as_path(path)
        self.scores: dict[Task, list[float]] = {}
        try:
            self._open(settings)
        except OSError as error:
            raise CheckpointError(f"{path} cannot hold a checkpoint ({error}); give another path") from None

    def add(self, task: Task, scores: list[float]) -> None:
        """Record the `scores` of a finished `task`, and append them to the file."""
        self.scores[task] = scores
        if self.path is None:
            return
        with name_in_errors(self.path), self.path.open("a") as file:
            file.write(_line({"task": task, "scores": scores}))

    def _open(self, settings: dict[str, Any]) -> None:
        """Read the file of a search with `settings`; create it where it is absent, empty or cut in its first line."""
        if self.path is None:
            return
        head = _line({"search": settings})
        if self.path.exists() and not head.encode().startswith(self.path.read_bytes()):
            self._read(self.path, settings)
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, head.encode())

    def _read(self, path: Path, settings: dict[str, Any]) -> None:
        """Read the complete lines of `path`, made with `settings`; a search that was killed may have cut the last."""
        try:
            lines = path.read_text().splitlines(keepends=True)
            whole = [line for line in lines if line.endswith("\n")]
            first, *rest = map(parse_json, whole)
            stored = dict(first["search"])
            self.scores = {tuple(line["task"]): line["scores"] for line in rest}
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{path} holds no search ({error}); delete it to start again") from None
        different = sorted(name for name in settings if stored.get(name) != json.loads(_line(settings[name])))
        if different:
            raise CheckpointError(
                f"{path} belongs to another search ({', '.join(different)} differ); delete it, or give another path"
            )
        if len(whole) < len(lines):
            write_atomically(path, "".join(whole).encode())


def _line(value: object) -> str:
    """Return `value` as a line of JSON; numpy numbers are written as plain numbers."""
    return json.dumps(value, default=np.generic.item) + "\n"


def fingerprint(*tables: FloatArray) -> str:
    """Return the SHA-256 digest of the shapes and values of `tables`."""
    digest = hashlib.sha256()
    for table in tables:
        digest.update(str(table.shape).encode() + table.tobytes())
    return digest.hexdigest()
