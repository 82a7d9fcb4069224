"""`from_csv`: data sets from CSV files; the cells are read as texts first (`read_table`)."""

import csv
from collections.abc import Iterable
from contextlib import closing
from itertools import chain
from os import PathLike
from pathlib import Path

from evolabel._utils.files import as_path
from evolabel.errors import FileFormatError
from evolabel.streams.columns import is_number
from evolabel.streams.dataset import Dataset
from evolabel.streams.reading import read_lines
from evolabel.streams.tabular.label_column import LabelColumn
from evolabel.streams.tabular.text_table import TextTable, check_header, table_dataset

_SEPARATORS = ",;\t"


def read_table(path: Path) -> TextTable:
    """Return the table in the file `path`; the separator is the one that occurs most often in the header."""
    with closing(read_lines(path, ".csv", ".tsv")) as lines:
        head = next(lines, "")
        if not head:
            raise FileFormatError(f"{path} is empty; expected a header, and one row or more")
        separator = max(_SEPARATORS, key=lambda mark: _count_cells(head, mark))
        decimal = "," if separator == ";" else "."
        reader = csv.reader(chain([head], lines), delimiter=separator, strict=True, skipinitialspace=True)
        try:
            names = _names(next(reader, []), path, decimal)
            numbered = [(_cells(row, names, path, reader.line_num), reader.line_num) for row in reader if row]
        except csv.Error as error:
            limit = csv.field_size_limit()
            what = f"a cell has more than {limit:,} characters" if "field limit" in str(error) else str(error)
            raise FileFormatError(f"{path}, line {reader.line_num}: {what}; check the quotes") from None
    return TextTable.of(path, decimal, names, numbered)


def _count_cells(head: str, separator: str) -> int:
    """Return the number of cells of the line `head`; 0 where the `separator` leaves a cell too long for `csv`."""
    try:
        return len(next(csv.reader([head], delimiter=separator), []))
    except csv.Error:
        return 0


def _names(header: list[str], path: Path, decimal: str) -> list[str]:
    names = [name.strip() for name in header]
    if (
        names
        and all(is_number(name, decimal) for name in names)
        and names != [str(column) for column in range(len(names))]
    ):
        raise FileFormatError(
            f"{path}, line 1: all names are numbers, as if there were no header; put one before the rows"
        )
    check_header(names, path)
    return names


def _cells(row: list[str], names: list[str], path: Path, line: int) -> list[str]:
    if len(row) != len(names):
        raise FileFormatError(f"{path}, line {line}: {len(row)} values, expected {len(names)} as in the header")
    return [cell.strip() for cell in row]


def from_csv(
    path: str | PathLike[str],
    labels: Iterable[str] | int | LabelColumn | None = None,
    *,
    drop: Iterable[str] = (),
    time: str | Iterable[str] = (),
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
    labels : sequence of str, int, LabelColumn or None
        Names of the label columns, which must hold 0, 1, true, false, yes, no or missing values. A number n stands for
        the first n columns, -n for the last n. A `LabelColumn` is one column with the labels of each row by their
        names. None looks for MULAN's XML file of the same name beside the table.
    drop : sequence of str
        Columns to leave out, such as serial numbers.
    time : str or sequence of str
        Columns of timestamps; each becomes three features, such as time_hour, time_weekday (Monday is 0) and
        time_days (since the first row).
    name : str or None
        Name of the data set; None takes that of the file.

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
    return table_dataset(read_table(as_path(path)), labels, drop=drop, time=time, name=name)
