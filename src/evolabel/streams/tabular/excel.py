"""Excel files (.xlsx): the first sheet, with the names of the columns in its first row."""

from pathlib import Path
from typing import Any

from evolabel._utils.optional import load
from evolabel.errors import FileFormatError
from evolabel.streams.tabular.text_table import TextTable, check_header


def read_excel(path: Path) -> TextTable:
    """Return the table in the first sheet of the file `path`; rows without any cell are left out.

    Formulas are read by the values that were stored with them.
    """
    rows = _cells(path)
    if not rows:
        raise FileFormatError(f"{path} is empty; expected a header, and one row or more")
    names = rows[0]
    check_header(names, path)
    return TextTable.of(path, ".", names, [(row, line) for line, row in enumerate(rows[1:], start=2) if any(row)])


def _cells(path: Path) -> list[list[str]]:
    """Return all cells of the first sheet as texts; columns behind the last one with any text are left out."""
    openpyxl: Any = load("openpyxl", "excel", "an Excel file")
    try:
        book = openpyxl.load_workbook(path, data_only=True)
        sheet = book.worksheets[0].iter_rows(values_only=True)
        rows = [["" if cell is None else str(cell).strip() for cell in row] for row in sheet]
        book.close()
    except Exception as error:  # a damaged file ends in errors of many kinds: of zip, XML, openpyxl
        raise FileFormatError(f"{path} is no Excel file that can be read ({error}); save it again as .xlsx") from None
    width = max((place + 1 for row in rows for place, cell in enumerate(row) if cell), default=0)
    return [row[:width] for row in rows] if width else []
