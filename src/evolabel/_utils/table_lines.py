"""Rows of named values as lines of CSV or JSON, or as a Parquet file, without holding all of them.

The tables that the labelling service exports have their columns here.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evolabel._utils.optional import load_parquet

Row = Mapping[str, Any]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a text that begins so is computed by spreadsheets, unless it is a number
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
_GROUP = 10_000  # rows of a Parquet file written at once


def csv_lines(columns: Iterable[str], rows: Iterable[Row], *, marked: bool = True) -> Iterator[str]:
    r"""Yield lines of CSV: the `columns`, then those values of each of `rows`, objects and lists as JSON.

    A text that a spreadsheet would compute begins with an apostrophe if `marked`.

    Examples
    --------
    >>> "".join(csv_lines(["id", "note"], [{"id": 1, "note": "=A1"}, {"id": 2}]))
    "id,note\n1,'=A1\n2,\n"
    """
    columns = list(columns)
    yield csv_line(columns, marked=marked)
    for row in rows:
        yield csv_line([_cell(row.get(name)) for name in columns], marked=marked)


def csv_line(cells: Iterable[Any], *, marked: bool = True) -> str:
    """Return `cells` as one line of CSV; if `marked`, a text that a spreadsheet would compute gets an apostrophe."""
    text = io.StringIO()
    csv.writer(text).writerow(map(_marked, cells) if marked else cells)  # "\r\n" at its end, so that both are quoted
    return text.getvalue().removesuffix("\r\n") + "\n"


def json_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield one line of JSON for each of `rows`."""
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def write_parquet(columns: Mapping[str, type], rows: Iterable[Row], path: Path) -> None:
    """Write `rows` with these `columns`, each with the type int, float, bool or str, to the Parquet file `path`."""
    pa, parquet = load_parquet()
    kinds = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    with parquet.ParquetWriter(path, schema) as writer:
        for group in _groups(rows):
            table = [{name: _as_text(row.get(name)) for name in columns} for row in group]
            writer.write_table(pa.Table.from_pylist(table, schema))


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    group = list[Row]()
    for row in rows:
        group.append(row)
        if len(group) == _GROUP:
            yield group
            group = []
    yield group


def _as_text(value: Any) -> Any:
    """Return `value`, an object or a list as JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False) if isinstance(value, dict | list) else value


def _cell(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else _as_text(value)


def _marked(cell: Any) -> Any:
    """Return `cell`, with an apostrophe before a text that a spreadsheet would compute; numbers stay as they are."""
    is_formula = isinstance(cell, str) and cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if is_formula else cell


ANSWER_COLUMNS: dict[str, type] = {
    "number": int, "id": str, "source": str, "asked_at": str, "person": str, "revision": int, "status": str, "at": str,
    "label": str, "answer": int, "asked": bool, "saw_prediction": bool, "took_ms": int, "note": str,
    "stands": bool,
}  # fmt: skip
"""Columns of an answer: one row per label, a refusal without one; it `stands` if it is the last and not taken back."""
RECORD_COLUMNS: dict[str, type] = {
    "seq": int, "epoch": int, "kind": str, "v": int, "at": int, "actor_id": int, "key": str, "part": int,
    "body_hash": str, "payload": str, "payload_hash": str, "outcome": str, "chain": str,
}  # fmt: skip
"""Columns of a record of the log; times are microseconds since 1970."""
_SAMPLE = {"number": int, "id": str, "source": str, "at": str, "held": str, "labels": str, "asked": str}


def sample_columns(features: Iterable[Mapping[str, Any]], labels: Iterable[str]) -> dict[str, type]:
    """Return the columns of a sample with these `features` and `labels`: x.NAME, p.NAME for its prediction, y.NAME."""
    values = {f"x.{item['name']}": str if item["kind"] == "text" else float for item in features}
    names = list(labels)
    return {**_SAMPLE, **values, **{f"p.{name}": float for name in names}, **{f"y.{name}": int for name in names}}


def flat_sample(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an exported sample, `row`, with one value for each of its columns."""
    parts = {"x": row.get("x"), "p": row["prediction"], "y": row.get("y")}
    flat = {f"{letter}.{name}": value for letter, found in parts.items() for name, value in (found or {}).items()}
    asked = (row.get("question") or {}).get("labels", [])
    return {**row, **flat, "labels": ";".join(row["labels"]), "asked": ";".join(asked)}
