"""JSON lines: one object per line, whose keys are the names of the columns."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from evolabel.errors import FileFormatError
from evolabel.streams.reading import read_lines
from evolabel.streams.tabular.label_column import SEPARATOR
from evolabel.streams.tabular.text_table import TextTable

_ABSENT = "null"


def read_json_lines(path: Path) -> TextTable:
    """Return the table in the file `path`; a key that a line does not have is a missing value.

    A list of texts becomes one text, joined by semicolons, as `LabelColumn` reads it.
    """
    names, objects, numbers = dict[str, None](), list[dict[str, str]](), list[int]()
    with closing(read_lines(path, ".jsonl")) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                cells = _cells(line, f"{path}, line {number}")
                names |= dict.fromkeys(cells)
                objects.append(cells)
                numbers.append(number)
    if not objects:
        raise FileFormatError(f"{path} has no rows; expected one JSON object per line")
    rows = [[cells.get(name, _ABSENT) for name in names] for cells in objects]
    return TextTable(path, ".", list(names), rows, numbers)


def _cells(line: str, where: str) -> dict[str, str]:
    """Return the values of the object in `line` as texts, by name; `where` names the line in errors."""
    try:
        found = json.loads(line)
    except ValueError as error:
        raise FileFormatError(f"{where}: this is no JSON ({error}); expected one object per line") from None
    if not isinstance(found, dict):
        kind = "a list" if isinstance(found, list) else "a single value"
        raise FileFormatError(f'{where}: this is {kind}; expected one object per line, as {{"depth": 0.5, "frogs": 1}}')
    cells = {name.strip(): _as_text(value, f"{where}: {name!r}") for name, value in found.items()}
    if "" in cells:
        raise FileFormatError(f"{where}: a column has no name; give every value a name")
    return cells


def _as_text(value: Any, where: str) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return SEPARATOR.join(_list_of_texts(value, where))
    if isinstance(value, dict):
        raise FileFormatError(f"{where} is an object; expected a number, a text, true, false, null or a list of texts")
    return json.dumps(value)


def _list_of_texts(values: Sequence[Any], where: str) -> Sequence[str]:
    for value in values:
        if not isinstance(value, str):
            raise FileFormatError(f"{where} is a list of {json.dumps(value)}; only lists of texts can be read")
    return values
