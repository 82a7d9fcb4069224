"""`from_csv`: tables in text files as data sets."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from evolabel.errors import DataError
from evolabel.streams.arff.label_files import read_label_names
from evolabel.streams.dataset import Dataset
from evolabel.streams.files.opening import bare_name
from evolabel.streams.tabular.cells import is_number, number
from evolabel.streams.tabular.csv_table import TextTable, read_table
from evolabel.streams.tabular.tables import Column, Texts, assemble, first_of, kept

MISSING = {"", "?", "#n/a", "<na>", "n/a", "na", "nan", "none", "null"}
MOST_NUMBERS = 20  # different numbers that a column of texts may have among them
TRUTH = {"true": 1.0, "false": 0.0}


def from_csv(
    path: str | PathLike[str],
    labels: Iterable[str] | int | None = None,
    *,
    drop: Iterable[str] = (),
    name: str | None = None,
) -> Dataset:
    r"""Read a table from a text file with a header, plain or compressed (.gz, .bz2, .zip).

    Columns are separated by comma, semicolon or tab, whichever the header has most of. A column is numeric if all its
    values are numbers (in semicolon files, with decimal comma or point), or all true or false; any other becomes one
    0/1 column per value, named like `site=north`. Nothing, NA, N/A, NaN, null, None and ? are missing values.

    Parameters
    ----------
    path : str or path
    labels : sequence of str, int or None
        Names of the label columns, which must hold 0, 1, true, false, yes, no or nothing. A number n means the first n
        columns, -n the last n. None looks for MULAN's XML file of the same name beside the table.
    drop : sequence of str
        Columns to leave out, such as times and serial numbers.
    name : str or None
        None takes the name of the file.

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
    columns = read_columns(table, kept(table.names, drop))
    for column, values in columns.items():
        if isinstance(values, Texts):
            _refuse_numbers(column, values, table)
    chosen = _names_beside(source, list(columns)) if labels is None else labels
    return replace(assemble(columns, chosen, name or _stem(source), table.where), lines=np.array(table.lines))


def read_columns(table: TextTable, names: Iterable[str]) -> dict[str, Column]:
    """Some columns of a table, as numbers where all their cells are."""
    cells = table.columns()
    return {name: _read_column(cells[name], table.decimal) for name in names}


def _read_column(cells: Sequence[str], decimal: str) -> Column:
    """Numbers or truth values if all cells are, else texts."""
    present = {cell for cell in cells if cell.lower() not in MISSING}
    for meaning in (number, _truth):
        try:
            numbers = {cell: meaning(cell, decimal) for cell in present}
        except (ValueError, KeyError):
            continue
        return np.array([numbers.get(cell, np.nan) for cell in cells])
    return Texts.of([cell if cell in present else None for cell in cells])


def _refuse_numbers(name: str, texts: Texts, table: TextTable) -> None:
    """A few words among many numbers are a mistake, not categories."""
    words = {text for text in texts.categories if not is_number(text, table.decimal)}
    numbers = len(texts.categories) - len(words)
    if numbers > max(MOST_NUMBERS, len(words)):
        row = next(row for row, value in enumerate(texts.values) if value in words)
        raise DataError(
            f"{table.where(row)}: {name!r} is {texts.values[row]!r}, but {numbers} other values of it are numbers; "
            "leave the cell empty if it is missing, or correct it"
        )


def _truth(cell: str, decimal: str) -> float:
    return TRUTH[cell.lower()]


def _names_beside(path: Path, columns: list[str]) -> list[str]:
    beside = path.with_name(f"{_stem(path)}.xml")
    if not beside.is_file():
        raise DataError(
            f"nothing says which columns of {path} are labels ({first_of(columns)}); pass their names, or -n for the "
            "last n"
        )
    return read_label_names(beside)


def _stem(path: Path) -> str:
    return bare_name(Path(bare_name(path, ".csv")), ".tsv")
