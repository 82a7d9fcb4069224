"""`TextTable`: a table whose cells were read as texts (CSV, JSON lines, Excel), and the data set it holds."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError, FileFormatError
from evolabel.streams.arff.label_files import read_label_names
from evolabel.streams.columns import is_number, parse_number
from evolabel.streams.dataset import Dataset
from evolabel.streams.reading import bare_name
from evolabel.streams.tabular.label_column import LabelColumn
from evolabel.streams.tabular.tables import Column, Texts, build_dataset, columns_without

_SUFFIXES = (".csv", ".tsv", ".jsonl", ".xlsx", ".parquet")
_MISSING = {"", "?", "#n/a", "<na>", "n/a", "na", "nan", "none", "null"}
_MAX_NUMBERS = 20  # different numbers allowed among the values of a column of texts
_BOOLEANS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


@dataclass(frozen=True)
class TextTable:
    """Cells of the file `path` by row, stripped; `lines` are the numbers of the lines on which the rows end.

    `decimal` is the decimal mark of its numbers; if that is a comma, a point is read as decimal mark as well.
    `unreadable` has an error message for each column with values that are neither numbers nor texts. `row_word` is what
    a row is called in messages.
    """

    path: Path
    decimal: str
    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    unreadable: dict[str, str] = field(default_factory=dict)
    row_word: str = "line"

    @classmethod
    def of(cls, path: Path, decimal: str, names: list[str], rows: Sequence[tuple[list[str], int]]) -> "TextTable":
        """Return the table of these `rows`, each with its line; FileFormatError if there are none."""
        if not rows:
            raise FileFormatError(f"{path} has no rows; expected a header, and one row or more")
        return cls(path, decimal, names, [cells for cells, _ in rows], [line for _, line in rows])

    @property
    def name(self) -> str:
        """The name of the file without its suffixes."""
        return bare_name(self.path, *_SUFFIXES)

    def describe_row(self, row: int) -> str:
        """Return the file and the line of `row`, for messages."""
        return f"{self.path}, {self.row_word} {self.lines[row]}"

    def columns(self) -> dict[str, Sequence[str]]:
        """Return the cells of every column, by its name."""
        return self._columns

    @cached_property
    def _columns(self) -> dict[str, Sequence[str]]:
        return dict(zip(self.names, zip(*self.rows, strict=True), strict=True))


def is_missing(cell: str) -> bool:
    """Return whether the text `cell` stands for a missing value."""
    return cell.lower() in _MISSING


def check_header(names: Sequence[str], path: Path) -> None:
    """Raise FileFormatError unless all `names` in the first line of the file `path` are given and differ."""
    if not names or "" in names:
        raise FileFormatError(f"{path}, line 1: a column has no name; expected a header with one name per column")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FileFormatError(f"{path}, line 1: several columns are named {twice!r}; expected each name once")


def check_cells(path: Path, cells: int, most: int | None) -> None:
    """Raise FileFormatError if a table in the file `path` has more `cells`, empty ones counted, than `most`."""
    if most is not None and cells > most:
        raise FileFormatError(
            f"{path} has more than {most:,} cells, empty ones counted; remove cells far behind the others, or split it"
        )


def table_dataset(
    table: TextTable,
    labels: Iterable[str] | int | LabelColumn | None,
    *,
    drop: Iterable[str] = (),
    time: Iterable[str] = (),
    name: str | None = None,
) -> Dataset:
    """Return the data set `name` in `table`: `labels` and `time` as in `build_dataset`, without the columns `drop`.

    If `labels` is None they are those of the XML file beside the table, and the `name` is that of the file.
    """
    kept, times = columns_without(table.names, drop), [time] if isinstance(time, str) else list(time)
    labels = _labels_beside(table, kept) if labels is None else labels
    texts = {*times, *([labels.name] if isinstance(labels, LabelColumn) else [])}
    columns = read_columns(table, kept, texts)
    for column, values in columns.items():
        if isinstance(values, Texts) and column not in texts:
            refuse_numbers(column, values, table)
    flags = [column for column, cells in table.columns().items() if _holds_flags(cells)]
    dataset = build_dataset(columns, labels, name or table.name, table.describe_row, time=times, flags=flags)
    return replace(dataset, lines=np.array(table.lines))


def _labels_beside(table: TextTable, columns: Sequence[str]) -> list[str]:
    beside = table.path.with_name(f"{table.name}.xml")
    if not beside.is_file():
        raise DataError(
            f"the labels of {table.path} are not given; pass their names (the columns are {first_names(columns)}), or "
            f"-n for the last n columns; on the command line as in --labels {columns[-1]} or --labels=-1"
        )
    return read_label_names(beside)


def read_columns(table: TextTable, names: Iterable[str], texts: Collection[str] = ()) -> dict[str, Column]:
    """Return the columns of `table` with these `names`: numbers if all cells are numbers or booleans, else texts.

    Columns named by `texts` stay texts, and an empty cell of theirs an empty text.
    """
    cells, columns = table.columns(), dict[str, Column]()
    for name in names:
        if name in table.unreadable:
            raise FileFormatError(f"{table.unreadable[name]}; leave the column out (drop=, --drop)")
        if name in texts:
            missing = _MISSING - {"", "none"}  # both mean something there
            columns[name] = Texts.of([None if cell.lower() in missing else cell for cell in cells[name]])
        else:
            columns[name] = _read_column(cells[name], table.decimal)
    return columns


def _read_column(cells: Sequence[str], decimal: str) -> Column:
    """Return `cells` as numbers if all are numbers, or all are booleans, 0 or 1; else as texts."""
    present = {cell for cell in cells if cell.lower() not in _MISSING}
    for read in (parse_number, _parse_boolean):
        try:
            numbers = {cell: read(cell, decimal) for cell in present}
        except (ValueError, KeyError):
            continue
        return np.array([numbers.get(cell, np.nan) for cell in cells])
    return Texts.of([cell if cell in present else None for cell in cells])


def _holds_flags(cells: Sequence[str]) -> bool:
    """Return whether `cells` are true and false, some maybe as 1 and 0, or missing."""
    present = {cell.lower() for cell in cells} - _MISSING
    return present <= _BOOLEANS.keys() and not present <= {"0", "1"}


def refuse_numbers(name: str, texts: Texts, table: TextTable) -> None:
    """Raise DataError if `texts` are mostly numbers: then the few words among them are mistakes, not categories."""
    words = {text for text in texts.categories if not is_number(text, table.decimal)}
    numbers = len(texts.categories) - len(words)
    if numbers > max(_MAX_NUMBERS, len(words)):
        row = next(row for row, value in enumerate(texts.values) if value in words)
        raise DataError(
            f"{table.describe_row(row)}: {name!r} is {texts.values[row]!r}, but {numbers} other values are numbers; "
            "leave the cell empty if it is missing, or correct it"
        )


def _parse_boolean(cell: str, decimal: str) -> float:
    return _BOOLEANS[cell.lower()]
