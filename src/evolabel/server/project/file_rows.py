"""The rows of a person's file as a project and its samples, in parts that are stored beside the log."""

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evolabel.server.project.learner_changes import blob_hash
from evolabel.server.project.settings import Feature, Label
from evolabel.streams.files.own_file import OwnRows

_PART = 1000  # rows


class FileRows(NamedTuple):
    """The rows of the file `name` as samples, in `parts` that are stored; `rows` is their number.

    With `waits` no more rows are sent while so many questions are open as the project allows. `id_column` has the ids
    of the rows, if it is not empty.
    """

    name: str
    rows: int
    parts: list[bytes]
    waits: bool = True
    id_column: str = ""

    def facts(self) -> dict[str, Any]:
        """Return what the log has of it: the hashes of the parts stand for them."""
        hashes = [blob_hash(part) for part in self.parts]
        return {"name": self.name, "rows": self.rows, "parts": hashes, "waits": self.waits, "id_column": self.id_column}


def file_rows(name: str, own: OwnRows, *, waits: bool = True, id_column: str = "") -> FileRows:
    """Return the rows `own` of the file `name`, with ids in `id_column`, as samples in parts; `waits` as there."""
    samples = list(_samples(own))
    places = range(0, len(samples), _PART)
    return FileRows(name, len(samples), [_packed(samples[place : place + _PART]) for place in places], waits, id_column)


def _samples(own: OwnRows) -> Iterator[dict[str, Any]]:
    for x, y, identifier, at in zip(own.x, own.y, own.ids, own.times, strict=True):
        yield {"id": identifier, "x": x, **({"at": at} if at else {}), **({"y": y} if y else {})}


def _packed(samples: Sequence[dict[str, Any]]) -> bytes:
    return zlib.compress(json.dumps(samples, ensure_ascii=False, allow_nan=False).encode())


def unpacked(part: bytes) -> list[dict[str, Any]]:
    """Return the samples in a stored `part`."""
    found: list[dict[str, Any]] = json.loads(zlib.decompress(part))
    return found


def place_in_parts(row: int) -> tuple[int, int]:
    """Return the number of the part with this `row`, and its place there."""
    return divmod(row, _PART)


def features_of(own: OwnRows) -> list[Feature]:
    """Return the features of a project for the rows `own`."""
    return [
        Feature(name) if choices is None else Feature(name, "text", choices) for name, choices in own.features.items()
    ]


def labels_of(own: OwnRows, described: Sequence[Label]) -> list[Label]:
    """Return the labels of a project for the rows `own`: those `described` by a person, then others of the file."""
    known = {label.name for label in described}
    return [*described, *(Label(name) for name in own.labels if name not in known)]
