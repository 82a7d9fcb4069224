"""`from_csv`: data sets from CSV files."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.streams.arff.label_files import read_label_names
from evolabel.streams.cells import is_number, parse_number
from evolabel.streams.dataset import Dataset
from evolabel.streams.reading import bare_name
from evolabel.streams.tabular.csv_table import TextTable, read_table
from evolabel.streams.tabular.tables import Column, Texts, build_dataset, columns_without

_MISSING = {"", "?", "#n/a", "<na>", "n/a", "na", "nan", "none", "null"}
_MAX_NUMBERS = 20  # different numbers allowed among the values of a column of texts
_BOOLEANS = {"true": 1.0, "false": 0.0}


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
            "the last n columns"
        )
    return read_label_names(beside)


def _stem(path: Path) -> str:
    return bare_name(Path(bare_name(path, ".csv")), ".tsv")
