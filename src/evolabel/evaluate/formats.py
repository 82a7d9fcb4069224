"""Results as files (one JSON document, JSON lines, or Parquet, all with the same content) and as data frames.

JSON has no NaN: it is written as null. In JSON lines, the field `kind` marks a line as settings, trend or summary; one
summary line per learner ends the file. In Parquet, the table is the trend; settings and summary are in its metadata.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from math import isnan, nan
from typing import Any, Literal, NamedTuple, TypedDict, get_args

from evolabel._utils import optional
from evolabel._utils.json_text import parse_json
from evolabel.errors import MissingDependencyError, ParameterError

Backend = Literal["pandas", "polars", "pyarrow"]

_METADATA_KEY = b"evolabel"
_TREND_COLUMNS = {"learner": "string", "sample": "int64", "metric": "string", "form": "string", "value": "float64"}


class Document(TypedDict):
    """Results in plain values; None stands for NaN."""

    settings: dict[str, Any]
    summary: list[dict[str, Any]]
    trend: list[dict[str, Any]]


class ResultFormat(NamedTuple):
    """A file format of results: one function that writes a document as bytes, one that reads it."""

    write: Callable[[Document], bytes]
    read: Callable[[bytes], Document]


def to_frame(columns: Mapping[str, Sequence[Any]], backend: Backend) -> Any:
    """Return a data frame of the library `backend` with the given `columns`."""
    import narwhals as nw

    if backend not in get_args(Backend):
        raise ParameterError(f"backend={backend!r} is unknown; use one of {', '.join(get_args(Backend))}")
    try:
        import_module(backend)
    except ImportError as error:
        message = f"a {backend} frame needs {backend}, which is not installed; run: pip install {backend}"
        raise MissingDependencyError(message) from error
    return nw.from_dict(columns, backend=backend).to_native()


def nan_to_none(values: Any) -> Any:
    """Return `values` with None for NaN; nested dictionaries are converted as well."""
    if isinstance(values, dict):
        return {key: nan_to_none(value) for key, value in values.items()}
    return None if isinstance(values, float) and isnan(values) else values


def none_to_nan(value: float | None) -> float:
    """Return the number `value`, or NaN for None."""
    return nan if value is None else value


def _write_json(document: Document) -> bytes:
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def _read_json(data: bytes) -> Document:
    document = parse_json(data)
    return {"settings": document["settings"], "summary": document["summary"], "trend": document["trend"]}


def _write_lines(document: Document) -> bytes:
    lines = [{"kind": "settings", **document["settings"]}]
    lines += [{"kind": "trend", **point} for point in document["trend"]]
    lines += [{"kind": "summary", **summary} for summary in document["summary"]]
    return "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines).encode()


def _read_lines(data: bytes) -> Document:
    document: Document = {"settings": {}, "summary": [], "trend": []}
    for line in map(parse_json, data.decode().splitlines()):
        kind = line.pop("kind")
        if kind == "settings":
            document["settings"] = line
        else:
            document[kind].append(line)  # type: ignore[literal-required]
    return document


def _write_parquet(document: Document) -> bytes:
    pyarrow, parquet = optional.load_parquet()
    metadata = json.dumps({"settings": document["settings"], "summary": document["summary"]}, allow_nan=False)
    schema = pyarrow.schema(
        [(name, getattr(pyarrow, kind)()) for name, kind in _TREND_COLUMNS.items()],
        metadata={_METADATA_KEY: metadata.encode()},
    )
    file = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist(document["trend"], schema), file)
    return bytes(file.getvalue())


def _read_parquet(data: bytes) -> Document:
    pyarrow, parquet = optional.load_parquet()
    # Arrow's reading threads can abort the interpreter at its exit if polars is loaded too: read without threads.
    try:
        table = parquet.ParquetFile(pyarrow.BufferReader(data)).read(use_threads=False)
    except OSError as error:  # the bytes are in memory, so this means that they are damaged
        raise ValueError(str(error)) from None
    metadata = parse_json(table.schema.metadata[_METADATA_KEY])
    return {"settings": metadata["settings"], "summary": metadata["summary"], "trend": table.to_pylist()}


RESULT_FORMATS = {
    ".json": ResultFormat(_write_json, _read_json),
    ".jsonl": ResultFormat(_write_lines, _read_lines),
    ".parquet": ResultFormat(_write_parquet, _read_parquet),
}
"""File formats by the ending of the file name."""
