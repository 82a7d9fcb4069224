"""`from_csv`: data sets from CSV files; the cells are read as texts first (`read_table`)."""

import csv
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from pathlib import Path

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError, FileFormatError
from evolabel.streams.arff.label_files import read_label_names
from evolabel.streams.cells import is_number, parse_number
from evolabel.streams.dataset import Dataset
from evolabel.streams.reading import bare_name, read_lines
from evolabel.streams.tabular.tables import Column, Texts, build_dataset, columns_without

_SEPARATORS = ",;\t"
_MISSING = {"", "?", "#n/a", "<na>", "n/a", "na", "nan", "none", "null"}
_MAX_NUMBERS = 20  # different numbers allowed among the values of a column of texts
_BOOLEANS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class TextTable:
    """Cells of the file `path` by row, stripped; `lines` are the numbers of the lines on which the rows end.

    `decimal` is the decimal mark of its numbers; if that is a comma, a point is read as decimal mark as well.
    """

    path: Path
    decimal: str
    names: list[str]
    rows: list[list[str]]
    lines: list[int]

    def describe_row(self, row: int) -> str:
        """Return the file and the line of `row`, for messages."""
        return f"{self.path}, line {self.lines[row]}"

    def columns(self) -> dict[str, Sequence[str]]:
        """Return the cells of every column, by its name."""
        return dict(zip(self.names, zip(*self.rows, strict=True), strict=True))


def read_table(path: Path) -> TextTable:
    """Return the table in the file `path`; the separator is the one that occurs most often in the header."""
    with closing(read_lines(path, ".csv", ".tsv")) as lines:
        head = next(lines, "")
        _check_text(head, path)
        separator = max(_SEPARATORS, key=lambda mark: len(next(csv.reader([head], delimiter=mark), [])))
        decimal = "," if separator == ";" else "."
        reader = csv.reader(chain([head], lines), delimiter=separator, strict=True, skipinitialspace=True)
        try:
            names = _names(next(reader, []), path, decimal)
            numbered = [(_cells(row, names, path, reader.line_num), reader.line_num) for row in reader if row]
        except csv.Error as error:
            raise FileFormatError(f"{path}, line {reader.line_num}: {error}; check the quotes") from None
    if not numbered:
        raise FileFormatError(f"{path} has no rows; expected a header, and one row or more")
    return TextTable(path, decimal, names, [cells for cells, _ in numbered], [line for _, line in numbered])


def _check_text(head: str, path: Path) -> None:
    """Raise FileFormatError if the first line `head` of the file `path` is empty or binary."""
    if not head:
        raise FileFormatError(f"{path} is empty; expected a header, and one row or more")
    if "\0" in head:
        raise FileFormatError(f"{path} is not a text file; expected a table with a header")


def _names(header: list[str], path: Path, decimal: str) -> list[str]:
    names = [name.strip() for name in header]
    if not names or "" in names:
        raise FileFormatError(f"{path}, line 1: a column has no name; expected a header with one name per column")
    if all(is_number(name, decimal) for name in names) and names != [str(column) for column in range(len(names))]:
        raise FileFormatError(
            f"{path}, line 1: all names are numbers, as if there were no header; put one before the rows"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FileFormatError(f"{path}, line 1: several columns are named {twice!r}; expected each name once")
    return names


def _cells(row: list[str], names: list[str], path: Path, line: int) -> list[str]:
    if len(row) != len(names):
        raise FileFormatError(f"{path}, line {line}: {len(row)} values, expected {len(names)} as in the header")
    return [cell.strip() for cell in row]


def from_csv(
    path: str | PathLike[str],
    labels: Iterable[str] | int | None = None,
    *,
    drop: Iterable[str] = (),
    name: str | None = None,
) -> Dataset:
    r"""Return the data set in a CSV file with a header, plain or compressed (.gz, .bz2, .zip).

    Columns are separated by comma, semicolon or tab, the one that occurs most often in the header. A column is numeric
    if all its values are numbers (in semicolon files, with decimal comma or point), or all true or false; any other
    becomes one 0/1 column per value, named like `site=north`. Empty cells, NA, N/A, NaN, null, None and ? are missing
    values.

    Parameters
    ----------
    path : str or path
        The CSV file.
    labels : sequence of str, int or None
        Names of the label columns, which must hold 0, 1, true, false, yes, no or missing values. A number n stands for
        the first n columns, -n for the last n. None looks for MULAN's XML file of the same name beside the table.
    drop : sequence of str
        Columns to leave out, such as times and serial numbers.
    name : str or None
        Name of the data set; None takes that of the file.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pond.csv")
    ...     _ = path.write_text("depth;site;frogs;newts\n0,5;south;1;0\nNA;north;1;")
    ...     pond = from_csv(path, labels=["frogs", "newts"])
    >>> pond.feature_names
    ('depth', 'site=north', 'site=south')
    >>> pond.X
    array([[0.5, 0. , 1. ],
           [nan, 1. , 0. ]])
    >>> pond.Y
    array([[ 1.,  0.],
           [ 1., nan]])
    """
    source = Path(path)
    table = read_table(source)
    columns = read_columns(table, columns_without(table.names, drop))
    for column, values in columns.items():
        if isinstance(values, Texts):
            _refuse_numbers(column, values, table)
    chosen = _labels_beside(source, list(columns)) if labels is None else labels
    dataset = build_dataset(columns, chosen, name or _stem(source), table.describe_row)
    return replace(dataset, lines=np.array(table.lines))


def read_columns(table: TextTable, names: Iterable[str]) -> dict[str, Column]:
    """Return the columns of `table` with these `names`: numbers if all cells are numbers or booleans, else texts."""
    cells = table.columns()
    return {name: _read_column(cells[name], table.decimal) for name in names}


def _read_column(cells: Sequence[str], decimal: str) -> Column:
    """Return `cells` as numbers if all are numbers or all are booleans, else as texts."""
    present = {cell for cell in cells if cell.lower() not in _MISSING}
    for read in (parse_number, _parse_boolean):
        try:
            numbers = {cell: read(cell, decimal) for cell in present}
        except (ValueError, KeyError):
            continue
        return np.array([numbers.get(cell, np.nan) for cell in cells])
    return Texts.of([cell if cell in present else None for cell in cells])


def _refuse_numbers(name: str, texts: Texts, table: TextTable) -> None:
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


def _labels_beside(path: Path, columns: list[str]) -> list[str]:
    beside = path.with_name(f"{_stem(path)}.xml")
    if not beside.is_file():
        raise DataError(
            f"the labels of {path} are not given; pass their names (the columns are {first_names(columns)}), or -n for "
            f"the last n columns; on the command line as in --labels {columns[-1]} or --labels=-1"
        )
    return read_label_names(beside)


def _stem(path: Path) -> str:
    return bare_name(Path(bare_name(path, ".csv")), ".tsv")
