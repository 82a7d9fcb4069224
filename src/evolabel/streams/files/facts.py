"""Names, split and order of a data set as JSON text, stored in the files of `write_dataset`."""

import json
from pathlib import Path
from typing import Any

from evolabel.errors import FileFormatError
from evolabel.streams.dataset import Dataset

_VERSION = 1  # of the format of the files
_FIELDS = ("name", "split", "feature_names", "label_names", "starts_at")


def facts_text(dataset: Dataset) -> str:
    """Return the facts about `dataset`, all but its numbers, as JSON text."""
    return json.dumps({field: getattr(dataset, field) for field in _FIELDS} | {"version": _VERSION})


def parse_facts(text: str, path: Path) -> dict[str, Any]:
    """Return the facts in the JSON `text` of the file `path`, as arguments of `Dataset`."""
    stored = json.loads(text)
    if stored["version"] > _VERSION:
        raise FileFormatError(
            f"{path} has format version {stored['version']}, this evolabel reads up to {_VERSION}; update evolabel"
        )
    names = {field: tuple(stored[field]) for field in ("feature_names", "label_names")}
    return {field: stored[field] for field in _FIELDS} | names


def damaged_file(path: Path, error: Exception) -> FileFormatError:
    """Return `error` if it is a FileFormatError, else one that names the damaged file `path` and the `error`."""
    if isinstance(error, FileFormatError):
        return error
    return FileFormatError(f"{path} is not a complete file of write_dataset ({error}); write it again")
