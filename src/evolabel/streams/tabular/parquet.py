"""Parquet files as tables of texts, so that their columns are judged as those of other files are."""

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from evolabel._utils.optional import load_parquet
from evolabel.errors import FileFormatError
from evolabel.streams.tabular.label_column import SEPARATOR
from evolabel.streams.tabular.text_table import TextTable, check_header

_CELL_BYTES = 8  # of a number


def read_parquet_cells(path: Path, most: int) -> TextTable:
    """Return the table in the file `path`; FileFormatError if it unpacks to more than `most` bytes.

    A list of texts becomes one text, joined by semicolons. Columns with other values can be left out.
    """
    pyarrow, parquet = load_parquet()
    try:
        with parquet.ParquetFile(path) as file:
            check_unpacked(path, _stated_bytes(file), most)
            names = [str(name) for name in file.schema_arrow.names]
            check_header(names, path)
            paths = [file.metadata.schema.column(place).path for place in range(file.metadata.num_columns)]
        with parquet.ParquetFile(path, read_dictionary=paths) as file:  # a text that is repeated is held once
            frame = file.read()
        texts = sum(_text_bytes(chunk) for column in frame.columns for chunk in column.chunks)
        check_unpacked(path, texts, most)
    except FileFormatError:
        raise
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise FileFormatError(f"{path} is no Parquet file that can be read ({error}); write it again") from None
    unreadable = dict[str, str]()
    columns = [_cells(name, frame.column(place).to_pylist(), path, unreadable) for place, name in enumerate(names)]
    rows = [(list(row), line) for line, row in enumerate(zip(*columns, strict=True), start=1)]
    table = TextTable.of(path, ".", [name.strip() for name in names], rows)
    return TextTable(path, ".", table.names, table.rows, table.lines, unreadable, "row")


def _stated_bytes(file: Any) -> int:
    """Return the bytes of the values of the Parquet `file` by what it states, a text that is repeated counted once."""
    facts, total = file.metadata, 0
    for group in map(facts.row_group, range(facts.num_row_groups)):
        for place in range(facts.num_columns):
            column, width = group.column(place), max(_CELL_BYTES, facts.schema.column(place).length)
            total += max(column.total_uncompressed_size, column.num_values * width)
    return total


def _text_bytes(array: Any) -> int:
    """Return the bytes of the repeated texts in `array` of pyarrow, also inside of lists and objects."""
    kind = str(array.type)
    if kind.startswith("dictionary"):
        from pyarrow import compute

        return compute.sum(compute.binary_length(array.dictionary).take(array.indices)).as_py() or 0
    if kind.startswith("struct"):
        return sum(map(_text_bytes, array.flatten()))
    return _text_bytes(array.flatten()) if kind.startswith(("list", "large_list")) else 0


def check_unpacked(path: Path, size: int, most: int) -> None:
    """Raise FileFormatError if the file `path`, which unpacks to `size` bytes, has more than `most`."""
    if size > most:
        raise FileFormatError(
            f"{path} unpacks to {size / 2**20:,.0f} MiB, at most {most / 2**20:,.0f} are read; split it into smaller "
            "files, or send its rows by `evolabel replay`"
        )


def _cells(name: str, values: list[Any], path: Path, unreadable: dict[str, str]) -> list[str]:
    """Return `values` of the column `name` as texts; the first that is none of a table is added to `unreadable`."""
    cells = list[str]()
    for row, value in enumerate(values, start=1):
        text = _as_text(value)
        if text is None:
            expected = "expected a number, a text, true, false, a timestamp or a list of texts"
            unreadable.setdefault(name, f"{path}, row {row}: {name!r} is {str(value)[:50]}; {expected}")
        cells.append(text or "")
    return cells


def _as_text(value: Any) -> str | None:
    """Return `value` of a cell as a text, empty if it is missing; None if it can be none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool | int | float | Decimal):
        return str(value)
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat(sep=" ") if isinstance(value, datetime.datetime) else value.isoformat()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return SEPARATOR.join(value)
    return None
