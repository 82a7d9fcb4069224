"""The cells of a CSV file as texts: separators, quotes, header and number of columns."""

import csv
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from evolabel.errors import FileFormatError
from evolabel.streams.cells import is_number
from evolabel.streams.reading import read_lines

_SEPARATORS = ",;\t"


@dataclass(frozen=True)
class TextTable:
    """Cells of the file `path` by row, stripped; `lines` are the numbers of the lines on which the rows end."""

    path: Path
    separator: str
    names: list[str]
    rows: list[list[str]]
    lines: list[int]

    @property
    def decimal(self) -> str:
        """Decimal mark of the numbers; in a table with decimal commas, a point is read as decimal mark as well."""
        return _decimal(self.separator)

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
        separator = max(_SEPARATORS, key=lambda mark: _width(head, mark))
        reader = csv.reader(chain([head], lines), delimiter=separator, strict=True, skipinitialspace=True)
        try:
            names = _names(next(reader, []), path, _decimal(separator))
            numbered = [(_cells(row, names, path, reader.line_num), reader.line_num) for row in reader if row]
        except csv.Error as error:
            raise FileFormatError(f"{path}, line {reader.line_num}: {error}; check the quotes") from None
    if not numbered:
        raise FileFormatError(f"{path} has no rows; expected a header, and one row or more")
    return TextTable(path, separator, names, [cells for cells, _ in numbered], [line for _, line in numbered])


def _check_text(head: str, path: Path) -> None:
    """Raise FileFormatError if the first line `head` of the file `path` is empty or binary."""
    if not head:
        raise FileFormatError(f"{path} is empty; expected a header, and one row or more")
    if "\0" in head:
        raise FileFormatError(f"{path} is not a text file; expected a table with a header")


def _width(head: str, separator: str) -> int:
    return len(next(csv.reader([head], delimiter=separator), []))


def _decimal(separator: str) -> str:
    return "," if separator == ";" else "."


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
