"""Results as files: one JSON document, JSON lines, or Parquet. All three hold the same.

JSON has no NaN: it is written as null. In JSON lines, `kind` tells settings, trend and summary apart, and a summary
line per learner closes the file; in Parquet, the table is the trend, and settings and summary are in its metadata.
"""

import json
from collections.abc import Callable, Iterator
from math import isnan, nan
from typing import Any, TypedDict

from evolabel._utils import optional

METADATA = b"evolabel"
COLUMNS = {"learner": "string", "sample": "int64", "metric": "string", "form": "string", "value": "float64"}


class Document(TypedDict):
    """Plain values only; NaN is None."""

    settings: dict[str, Any]
    summary: list[dict[str, Any]]
    trend: list[dict[str, Any]]


def without_nan(values: Any) -> Any:
    """The same values, None for NaN; dictionaries are looked into."""
    if isinstance(values, dict):
        return {key: without_nan(value) for key, value in values.items()}
    return None if isinstance(values, float) and isnan(values) else values


def with_nan(value: float | None) -> float:
    """The number that was written, NaN for None."""
    return nan if value is None else value


def _write_json(document: Document) -> bytes:
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def _read_json(data: bytes) -> Document:
    document = json.loads(data)
    return {"settings": document["settings"], "summary": document["summary"], "trend": document["trend"]}


def _write_lines(document: Document) -> bytes:
    return "".join(json.dumps(line, allow_nan=False) + "\n" for line in _lines(document)).encode()


def _lines(document: Document) -> Iterator[dict[str, Any]]:
    yield {"kind": "settings", **document["settings"]}
    yield from ({"kind": "trend", **point} for point in document["trend"])
    yield from ({"kind": "summary", **summary} for summary in document["summary"])


def _read_lines(data: bytes) -> Document:
    document: Document = {"settings": {}, "summary": [], "trend": []}
    for line in map(json.loads, data.decode().splitlines()):
        kind = line.pop("kind")
        if kind == "settings":
            document["settings"] = line
        else:
            document[kind].append(line)  # type: ignore[literal-required]
    return document


def _write_parquet(document: Document) -> bytes:
    pyarrow, parquet = _load_parquet()
    facts = json.dumps({"settings": document["settings"], "summary": document["summary"]}, allow_nan=False)
    schema = pyarrow.schema(
        [(name, getattr(pyarrow, kind)()) for name, kind in COLUMNS.items()], metadata={METADATA: facts.encode()}
    )
    file = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist(document["trend"], schema), file)
    return bytes(file.getvalue())


def _read_parquet(data: bytes) -> Document:
    pyarrow, parquet = _load_parquet()
    # Arrow's reading threads can abort the interpreter at its exit if polars is loaded, too: read without any.
    try:
        table = parquet.ParquetFile(pyarrow.BufferReader(data)).read(use_threads=False)
    except OSError as error:  # of bytes in memory: they are damaged
        raise ValueError(str(error)) from None
    facts = json.loads(table.schema.metadata[METADATA])
    return {"settings": facts["settings"], "summary": facts["summary"], "trend": table.to_pylist()}


def _load_parquet() -> tuple[Any, Any]:
    purpose = "a Parquet file"
    return optional.load("pyarrow", "parquet", purpose), optional.load("pyarrow.parquet", "parquet", purpose)


WRITERS: dict[str, Callable[[Document], bytes]] = {
    ".json": _write_json,
    ".jsonl": _write_lines,
    ".parquet": _write_parquet,
}
READERS: dict[str, Callable[[bytes], Document]] = {
    ".json": _read_json,
    ".jsonl": _read_lines,
    ".parquet": _read_parquet,
}
