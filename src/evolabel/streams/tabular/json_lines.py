"""JSON lines: one object per line, whose keys are the names of the columns."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from evolabel._utils.json_text import parse_json
from evolabel.errors import FileFormatError
from evolabel.streams.reading import read_lines
from evolabel.streams.tabular.label_column import SEPARATOR
from evolabel.streams.tabular.text_table import TextTable, check_cells

_ABSENT = "null"


def read_json_lines(path: Path, most_cells: int | None = None) -> TextTable:
    """Return the table in the file `path`; a key that a line does not have is a missing value.

    FileFormatError if it has more than `most_cells`, missing values counted.

    A list of texts becomes one text, joined by semicolons, as `LabelColumn` reads it. Columns with objects and other
    lists in them can be left out, and are refused where they are used.
    """
    names, objects, numbers, unreadable = dict[str, None](), list[dict[str, str]](), list[int](), dict[str, str]()
    with closing(read_lines(path, ".jsonl")) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                cells = _cells(line, f"{path}, line {number}", unreadable)
                names |= dict.fromkeys(cells)
                objects.append(cells)
                numbers.append(number)
    if not objects:
        raise FileFormatError(f"{path} has no rows; expected one JSON object per line")
    check_cells(path, len(objects) * len(names), most_cells)
    rows = [[cells.get(name, _ABSENT) for name in names] for cells in objects]
    return TextTable(path, ".", list(names), rows, numbers, unreadable)


def _cells(line: str, where: str, unreadable: dict[str, str]) -> dict[str, str]:
    """Return the values of the object in `line` as texts, by name; `where` names the line in errors.

    A message on the first value of a column that is neither a number nor a text is added to `unreadable`.
    """
    try:
        found = parse_json(line, object_pairs_hook=_named_once)
    except ValueError as error:
        raise FileFormatError(f"{where}: this is no JSON ({error}); expected one object per line") from None
    if not isinstance(found, dict):
        what = "a list" if isinstance(found, list) else "a single value"
        raise FileFormatError(f'{where}: this is {what}; expected one object per line, as {{"depth": 0.5, "frogs": 1}}')
    cells = {name.strip(): value for name, value in found.items()}
    if "" in cells:
        raise FileFormatError(f"{where}: a column has no name; give every value a name")
    for name, value in cells.items():
        if (kind := _other_kind(value)) is not None:
            expected = "expected a number, a text, true, false, null or a list of texts"
            unreadable.setdefault(name, f"{where}: {name!r} is {kind}; {expected}")
    return {name: _as_text(value) for name, value in cells.items()}


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return `pairs` of an object as a dictionary; ValueError if a name stands twice, of which one would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{max(names, key=names.count)!r} stands twice")
    return found


def _other_kind(value: Any) -> str | None:
    """Return what `value` is if it can be neither a number nor a text, else None."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return f"a list with {json.dumps(next(item for item in value if not isinstance(item, str)))[:50]}"
    return None


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and _other_kind(value) is None:
        return SEPARATOR.join(value)
    return json.dumps(value)
