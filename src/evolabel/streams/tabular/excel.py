"""Excel files (.xlsx): the first sheet, with the names of the columns in its first row."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evolabel._utils.optional import load
from evolabel.errors import FileFormatError
from evolabel.streams.tabular.text_table import TextTable, check_cells, check_header


def read_excel(path: Path, most_cells: int | None = None) -> TextTable:
    """Return the table in the first sheet of the file `path`; rows without any cell are left out.

    Formulas are read by the values that were stored with them. FileFormatError if the sheet has more than `most_cells`,
    empty ones between others counted.
    """
    rows = _cells(path, most_cells)
    if not rows:
        raise FileFormatError(f"{path} is empty; expected a header, and one row or more")
    names = rows[0]
    check_header(names, path)
    return TextTable.of(path, ".", names, [(row, line) for line, row in enumerate(rows[1:], start=2) if any(row)])


def _cells(path: Path, most: int | None) -> list[list[str]]:
    """Return all cells of the first sheet as texts; columns behind the last one with any text are left out."""
    openpyxl: Any = load("openpyxl", "excel", "an Excel file")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)  # else it makes all empty cells
        try:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # those that a file states may be wrong
            rows, n_cells = list[list[str]](), 0
            for row in sheet.iter_rows(values_only=True):
                check_cells(path, n_cells := n_cells + max(1, len(row)), most)
                rows.append(_texts(row))
        finally:
            book.close()
    except FileFormatError:
        raise
    except Exception as error:  # a damaged file ends in errors of many kinds: of zip, XML, openpyxl
        raise FileFormatError(f"{path} is no Excel file that can be read ({error}); save it again as .xlsx") from None
    width = max(map(len, rows), default=0)
    check_cells(path, len(rows) * width, most)
    return [row + [""] * (width - len(row)) for row in rows] if width else []


def _texts(row: Sequence[Any]) -> list[str]:
    """Return the cells of `row` as texts, up to the last one with any text."""
    texts = ["" if cell is None else str(cell).strip() for cell in row]
    while texts and not texts[-1]:
        texts.pop()
    return texts
