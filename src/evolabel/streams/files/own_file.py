"""A person's own file of rows: what each column is, and how it can be used; the same for the service and its command.

`read_own_file` reads and judges a file, `use_columns` makes samples of its rows.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args
from zipfile import BadZipFile, ZipFile

import numpy as np

from evolabel._utils.text import first_names
from evolabel.engine.values import MAX_VALUE
from evolabel.errors import DataError, FileFormatError
from evolabel.streams.columns import TRUTH_VALUES
from evolabel.streams.files.convert import check_is_file, read_text_table
from evolabel.streams.tabular.label_column import SEPARATOR, LabelColumn
from evolabel.streams.tabular.parquet import check_unpacked, read_parquet_cells
from evolabel.streams.tabular.tables import EXPECTED_NUMBER, Column, Texts, check_categories, check_finite, read_label
from evolabel.streams.tabular.text_table import TextTable, is_missing, read_columns, refuse_numbers
from evolabel.streams.tabular.time_columns import is_timestamp, parse_times
from evolabel.typing import FloatArray

OWN_SUFFIXES = (".csv", ".tsv", ".jsonl", ".xlsx", ".parquet")
"""Endings of the names of files that can be read."""
MOST_VALUES = 100
"""Labels that a column with names of labels can have."""
Use = Literal["number", "text", "label", "class", "labels", "id", "time", "source", "skip"]
"""What a column is used for: a feature (number, text), a label of 0 and 1, the one label of each row (class), all
labels of each row apart by semicolons (labels), or the id, the time or the source of the row; skip leaves it out."""
USES: tuple[Use, ...] = get_args(Use)
_ONCE = ("class", "labels", "id", "time", "source")
_LONGEST_ID = 200  # characters
_CELL_BYTES = 2  # of a cell in a text, with its comma: so a file of another format has no more cells than one of CSV
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # the byte 0, and halves of characters
_EXAMPLES = 3
_LONGEST_EXAMPLE = 40  # characters
_MOST_TEXTS = 256
_MANY = 20  # rows from which on a column of different texts holds ids
_ID_NAMES = ("id", "uuid", "key", "serial", "nr", "no", "row", "index")
_CLASS_NAMES = ("class", "label", "labels", "tag", "tags", "target", "fault", "faults")
_SOURCE_NAMES = ("source", "machine", "device", "sensor", "station", "site", "pump", "line")


class ColumnError(DataError):
    """The column called `column` cannot be used as it is to be; the message names the row, if one is wrong."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column


class FoundColumn(NamedTuple):
    """A column of a file: its kind, the use that is proposed, and what stands in it.

    `kind` is number, flag (0, 1, true, false, yes, no), time, text, list or empty. `problem` is the first value that
    does not fit, with its row.
    """

    name: str
    kind: str
    use: Use
    missing: int
    distinct: int
    examples: tuple[str, ...]
    problem: str = ""


class OwnFile(NamedTuple):
    """A file that was read: its table of texts, and what its columns are."""

    table: TextTable
    columns: list[FoundColumn]


class OwnRows(NamedTuple):
    """Rows of a file as samples: `x` in the order of the `features`, what is known of the `labels`, ids and times.

    `features` have the choices of a text, None for a number; `is_one_of`: each row has one label. `source` is the
    feature with the source of the rows, or empty.
    """

    features: dict[str, tuple[str, ...] | None]
    labels: tuple[str, ...]
    is_one_of: bool
    source: str
    x: list[list[float | str | None]]
    y: list[dict[str, int]]
    ids: list[str]
    times: list[str | None]


def read_own_file(path: Path, most: int = 64 * 2**20) -> OwnFile:
    """Return the table in the file `path` and what its columns are.

    FileFormatError, with the place, if it cannot be read, or if it has more than `most` bytes, packed or unpacked.
    """
    check_is_file(path)
    suffix = path.suffix.lower()
    if suffix not in OWN_SUFFIXES:
        raise FileFormatError(f"{path} has no ending of a table; save it as {', '.join(OWN_SUFFIXES)}")
    if (size := path.stat().st_size) > most:
        raise FileFormatError(
            f"{path} has {size / 2**20:,.1f} MiB, at most {most / 2**20:,.0f} are read; split it, or send its "
            "rows by `evolabel replay`"
        )
    if suffix == ".xlsx":
        check_unpacked(path, _unpacked(path), most)
    table = read_parquet_cells(path, most) if suffix == ".parquet" else read_text_table(path, most // _CELL_BYTES)
    _check_characters(table)
    return OwnFile(table, judge_columns(table))


def _check_characters(table: TextTable) -> None:
    """Raise FileFormatError, with the row, for the first text of `table` with a character that cannot be stored."""
    for row, texts in enumerate([table.names, *table.rows], start=-1):
        if found := _UNSTORABLE.search("\n".join(texts)):
            where = table.describe_row(row) if row >= 0 else f"{table.path}, line 1"
            raise FileFormatError(f"{where}: a text has the character {found[0]!r}, which is not stored; leave it out")


def _unpacked(path: Path) -> int:
    """Return the bytes that the parts of the zip archive `path` have; its reader takes no more than they declare."""
    try:
        with ZipFile(path) as archive:
            return sum(part.file_size for part in archive.infolist())
    except (BadZipFile, OSError, ValueError) as error:
        raise FileFormatError(f"{path} is no Excel file that can be read ({error}); save it again as .xlsx") from None


def judge_columns(table: TextTable) -> list[FoundColumn]:
    """Return what each column of `table` is, with the use that its values and its name propose."""
    cells, found = table.columns(), list[FoundColumn]()
    for name in table.names:
        found.append(_judged(name, cells[name], table, {column.use for column in found}))
    return _with_labels(found)


def _judged(name: str, cells: Sequence[str], table: TextTable, taken: set[Use]) -> FoundColumn:
    """Return what the column `name` with these `cells` is; uses that are `taken` and stand once are not proposed."""
    if name in table.unreadable:
        return FoundColumn(name, "list", "skip", 0, 0, (), table.unreadable[name])
    column = read_columns(table, [name])[name]
    missing = sum(map(is_missing, cells))
    present = list(dict.fromkeys(cell for cell in cells if not is_missing(cell)))
    kind, problem = _kind(name, column, present, table)
    examples = tuple(cell[:_LONGEST_EXAMPLE] for cell in present[:_EXAMPLES])
    column_found = FoundColumn(name, kind, "skip", missing, len(present), examples, problem)
    return column_found._replace(use=_proposed(column_found, len(cells), taken))


def _kind(name: str, column: Column, present: Sequence[str], table: TextTable) -> tuple[str, str]:
    """Return the kind of a `column` called `name` with the cells `present`, and the first value that does not fit."""
    if not present:
        return "empty", ""
    if {cell.lower() for cell in present} <= TRUTH_VALUES.keys():
        return "flag", ""
    if not isinstance(column, Texts):
        return "number", ""
    if all(is_timestamp(text) for text in column.categories):
        return "time", ""
    try:
        refuse_numbers(name, column, table)
    except DataError as error:
        return "number", str(error)
    return ("list" if any(SEPARATOR in text for text in column.categories) else "text"), ""


def _proposed(found: FoundColumn, n_rows: int, taken: set[Use]) -> Use:
    """Return the use proposed for the column `found` in so many rows (`n_rows`), where others are `taken`."""
    kind, distinct, word = found.kind, found.distinct, found.name.strip().lower().rpartition("_")[2]
    is_unique = distinct == n_rows
    use: Use = "number"
    if kind == "empty":
        use = "skip"
    elif kind == "time":
        use = "time" if "time" not in taken else "skip"
    elif is_unique and "id" not in taken and (word in _ID_NAMES or (kind == "text" and n_rows >= _MANY)):
        use = "id"
    elif kind == "list":
        use = "labels" if not taken & {"class", "labels"} else "skip"
    elif kind == "text" and word in _CLASS_NAMES and distinct <= MOST_VALUES and not taken & {"class", "labels"}:
        use = "class"
    elif kind == "text" and distinct > _MOST_TEXTS:
        use = "skip"
    elif kind == "text":
        use = "source" if word in _SOURCE_NAMES and "source" not in taken else "text"
    return use


def _with_labels(found: list[FoundColumn]) -> list[FoundColumn]:
    """Return the columns `found` with the last ones as labels, as far as they hold 0 and 1 and others do not."""
    last = len(found)
    while last and found[last - 1].kind == "flag":
        last -= 1
    has_features = any(column.use in ("number", "text", "source") for column in found[:last])
    return found[:last] + [column._replace(use="label") for column in found[last:]] if has_features else found


def use_columns(table: TextTable, uses: Mapping[str, Use], prefix: str = "") -> OwnRows:
    """Return the rows of `table` as samples by the `uses` of its columns; those that are not named are left out.

    Rows without a column of ids have the `prefix`, by default the name of the file, and their number. ColumnError, with
    the row, for the first value that does not fit.
    """
    chosen = {name: uses.get(name, "skip") for name in table.names}
    _check_uses(table, uses)
    by_use = {use: [name for name, other in chosen.items() if other == use] for use in USES}
    columns = [name for name, use in chosen.items() if use in ("number", "text", "source")]
    if not columns:
        raise DataError("no column is a feature; use one or more as number or text")
    features, values = dict[str, tuple[str, ...] | None](), list[Sequence[float | str | None]]()
    for name in columns:
        features[name], cells = _feature(table, name, chosen[name])
        values.append(cells)
    labels, known = _labels(table, by_use)
    return OwnRows(
        features, labels, bool(by_use["class"]), next(iter(by_use["source"]), ""),
        [list(row) for row in zip(*values, strict=True)], known,
        _ids(table, by_use["id"], prefix or table.name), read_times(table, next(iter(by_use["time"]), None)),
    )  # fmt: skip


def _check_uses(table: TextTable, uses: Mapping[str, Use]) -> None:
    """Raise an error unless `uses` names columns of `table` and known uses, and those that stand once do so."""
    if unknown := [name for name in uses if name not in table.names]:
        raise DataError(f"there is no column {unknown[0]!r}; the columns are {first_names(table.names)}")
    for name, use in uses.items():
        if use not in USES:
            raise ColumnError(name, f"column {name!r}: there is no use {use!r}; choose one of {', '.join(USES)}")
        if use in _ONCE and (same := [other for other, its in uses.items() if its == use])[0] != name:
            raise ColumnError(name, f"{same[0]!r} and {name!r} are both used as {use}; choose one of them")
    if {"class", "labels"} <= set(uses.values()):
        name = next(name for name, use in uses.items() if use == "labels")
        raise ColumnError(name, "one column has one label in each row and another one several; choose one of them")


def _feature(table: TextTable, name: str, use: Use) -> tuple[tuple[str, ...] | None, Sequence[float | str | None]]:
    """Return the choices of the feature in column `name`, None for numbers, and its values; `use` is that of it."""
    try:
        column = read_columns(table, [name])[name]
        if use == "number":
            return None, _numbers(table, name, column)
        texts = column if isinstance(column, Texts) else _as_texts(table, name)
        check_categories(name, texts)
        if not texts.categories:
            raise DataError(f"column {name!r} has no text in any row; leave it out")
        return tuple(texts.categories), texts.values
    except ColumnError:
        raise
    except (DataError, FileFormatError) as error:
        raise ColumnError(name, str(error)) from None


def _as_texts(table: TextTable, name: str) -> Texts:
    """Return the column `name` of numbers as the texts that stand in the file."""
    return Texts.of([None if is_missing(cell) else cell for cell in table.columns()[name]])


def _numbers(table: TextTable, name: str, column: Column) -> list[float | None]:
    """Return the numbers of the `column` called `name`; DataError names the first value that is none, or too large."""
    if isinstance(column, Texts):
        refuse_numbers(name, column, table)
        row = next((row for row, text in enumerate(column.values) if text is not None), None)
        if row is not None:
            raise DataError(f"{table.describe_row(row)}: {name!r} is {column.values[row]!r}; {EXPECTED_NUMBER}")
        return [None] * len(column.values)
    check_finite(name, column, table.describe_row)
    if (large := np.flatnonzero(np.abs(column) > MAX_VALUE)).size:
        raise DataError(f"{table.describe_row(int(large[0]))}: {name!r} is above {MAX_VALUE:g}; correct it")
    return [None if number != number else number for number in column.tolist()]


def _labels(table: TextTable, by_use: Mapping[Use, list[str]]) -> tuple[tuple[str, ...], list[dict[str, int]]]:
    """Return the labels that columns of `table` hold, and what is known of them in each row."""
    names, known = list[str](), [dict[str, int]() for _ in table.rows]
    for name in by_use["label"]:
        try:
            column = read_label(name, read_columns(table, [name])[name], table.describe_row)
        except DataError as error:
            raise ColumnError(name, str(error)) from None
        _add(names, known, [name], column[:, np.newaxis])
    for use in ("class", "labels"):
        for name in by_use[use]:
            texts = read_columns(table, [name], {name})[name]
            assert isinstance(texts, Texts)
            found = len({text for text in texts.values if text}) if use == "class" else 0
            if found > MOST_VALUES:
                raise ColumnError(name, _too_many(name, found, texts))
            try:
                labels, values = LabelColumn(name, one_per_row=use == "class").read(texts.values)
            except DataError as error:
                raise ColumnError(name, str(error)) from None
            if len(labels) > MOST_VALUES:
                raise ColumnError(name, _too_many(name, len(labels), texts))
            _add(names, known, labels, values)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"two columns hold the label {twice!r}; leave one of them out")
    return tuple(names), known


def _too_many(name: str, found: int, texts: Texts) -> str:
    return (
        f"column {name!r} has {found} different labels ({', '.join(texts.categories[:3])} ...), people can be asked "
        f"about at most {MOST_VALUES}; choose another column for the labels, or leave this one out"
    )


def _add(names: list[str], known: list[dict[str, int]], labels: Sequence[str], values: FloatArray) -> None:
    """Add `labels` to `names`, and their `values` of 0, 1 and NaN to what is `known` of each row."""
    names += labels
    for row, line in zip(known, values.tolist(), strict=True):
        row.update({label: int(value) for label, value in zip(labels, line, strict=True) if value == value})


def _ids(table: TextTable, column: list[str], prefix: str) -> list[str]:
    """Return the ids in the only `column`, or the `prefix` and a number for each row, as `evolabel replay` has them."""
    if not column:
        return [f"{prefix}-{number}" for number in range(1, len(table.rows) + 1)]
    name, rows = column[0], dict[str, int]()
    for row, cell in enumerate(table.columns()[name]):
        where = table.describe_row(row)
        if is_missing(cell) or len(cell) > _LONGEST_ID or not cell.isprintable():
            shown = "missing" if is_missing(cell) else repr(cell[:50])
            raise ColumnError(name, f"{where}: the id in {name!r} is {shown}; give each row one of 1 to 200 characters")
        if (first := rows.setdefault(cell, row)) != row:
            other = f"{table.row_word} {table.lines[first]}"
            raise ColumnError(name, f"{where}: the id {cell[:50]!r} is that of {other} as well; give each row its own")
    return list(rows)


def read_times(table: TextTable, name: str | None) -> list[str | None]:
    """Return the timestamps in the column `name` of `table`, None for each row without one; ColumnError for others."""
    if name is None:
        return [None] * len(table.rows)
    texts = [None if is_missing(cell) else cell for cell in table.columns()[name]]
    try:
        times = parse_times(name, texts, table.describe_row)
    except DataError as error:
        raise ColumnError(name, str(error)) from None
    return [None if time is None else time.isoformat() for time in times]
