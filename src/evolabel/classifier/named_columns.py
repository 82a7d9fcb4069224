"""Frames as rows of features: columns are found by name, texts become 0/1 features by a `ColumnCoding`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import narwhals as nw
import numpy as np

from evolabel._utils.notes import note
from evolabel._utils.text import counted, first_names
from evolabel.errors import DataError
from evolabel.streams.tabular.column_coding import ColumnCoding, Encoded, Unseen
from evolabel.streams.tabular.frames import flag_columns, frame_columns
from evolabel.streams.tabular.tables import Column, Texts
from evolabel.typing import FloatArray

_TEXTS = (nw.String, nw.Categorical, nw.Enum)
_NUMBERS = "fiub"  # kinds of arrays
_FEW_COLUMNS = 20  # up to which single cells of a pandas frame are read faster than a row
_LAST_SAME: list[tuple[Any, Any]] = [(None, None)]  # the last pandas index, and the coding whose columns it has


def check_column_names(kind: str, names: Sequence[object], width: int) -> None:
    """Raise DataError unless there is one name for each of `width` columns of this `kind` in `names`."""
    if len(names) != width or len(set(map(str, names))) != width:
        raise DataError(f"{len(names)} names were given for {width} {kind}; give one name each, all different")


def holds_texts(frame: object) -> bool:
    """Return whether a column of the data frame `frame` holds texts or categories."""
    native: Any = frame
    return any(kind in _TEXTS for kind in nw.from_native(native, eager_only=True).schema.values())


def first_coding(frame: object) -> tuple[ColumnCoding, Encoded]:
    """Return the coding of the columns of the data frame `frame`, and its rows by this coding."""
    columns = frame_columns(frame)
    coding = ColumnCoding.of(columns, flag_columns(frame))
    return coding, coding.encode(columns, _numbered)


def read_by_name(coding: ColumnCoding, frame: object, names: Sequence[str]) -> Encoded:
    """Return the features of the data frame `frame` with columns `names` by `coding`, with notes on what differs."""
    coding = coding.coded_in(names)
    used = coding.used(names)
    known = set(used)
    if extra := [name for name in names if name not in known]:
        note(f"X has columns that the model does not use: {first_names(extra)}; they are ignored")
    if used == list(coding.columns) and [name for name in names if name in known] != used:
        note("the columns of X have another order than those of the model; they are taken by name")
    encoded = coding.encode(frame_columns(frame, used, coding.times), _numbered)
    for text in describe_unseen(encoded.unseen):
        note(text)
    return encoded


def read_mapping(coding: ColumnCoding, x: Mapping[str, Any]) -> Encoded:
    """Return the features, (1, p), of the sample `x` by column names of `coding`, and its texts without a feature.

    Columns that `x` does not have are missing. A note reports names that are no columns, and texts never seen.
    """
    given = {str(name): value for name, value in x.items()}
    coding = coding.coded_in(given)
    known = set(coding.columns)
    if extra := [name for name in given if name not in known]:
        note(f"x has features that the model does not use: {first_names(extra)}; they are ignored")
    cells = [given.get(column) for column in coding.columns]
    row = coding.encode_cells(cells)
    if row is not None:
        return Encoded(row, [])
    columns = {
        name: _one_cell(name, value, is_time=name in coding.times)
        for name, value in zip(coding.columns, cells, strict=True)
    }
    encoded = coding.encode(columns, lambda _: "x", "x")
    for text in describe_unseen(encoded.unseen):
        note(text)
    return encoded


def _one_cell(name: str, value: Any, *, is_time: bool) -> Column:
    """Return a column of the one `value`; DataError if it is neither a text nor a number, nor a time if `is_time`."""
    if isinstance(value, str):
        return Texts.of([value])
    if is_time and isinstance(value, datetime | np.datetime64):
        return Texts.of([str(value) if value == value else None])  # NaT differs from itself
    try:
        return np.array([np.nan if value is None else float(value)])
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"x: {name!r} is {value!r}; pass a number or a text, None where it is missing") from None


def describe_unseen(unseen: Sequence[Unseen]) -> list[str]:
    """Return one sentence per column and text of `unseen`, with the number of rows and the first of them."""
    rows: dict[tuple[str, str], list[int]] = {}
    for row, column, text in unseen:
        rows.setdefault((column, text), []).append(row)
    return [
        f"{column} = {text} was never seen ({counted(len(found), 'row')}, the first is row {found[0]}); it is read as "
        "none of the known ones"
        for (column, text), found in rows.items()
    ]


def one_plain_row(coding: ColumnCoding, X: Any) -> FloatArray | None:
    """Return the features, (1, p), of a frame of one row with exactly the columns of `coding`, read without narwhals.

    None for anything else, which takes the general and far slower way.
    """
    kind = type(X)
    library = kind.__module__.partition(".")[0] if kind.__name__ == "DataFrame" else ""  # isinstance takes far longer
    if library == "pandas":
        return _plain_pandas(coding, X)
    if library == "polars" and X.height == 1 and X.columns == list(coding.columns):
        return coding.encode_cells(X.row(0))
    return None


def _plain_pandas(coding: ColumnCoding, X: Any) -> FloatArray | None:
    if len(X) != 1 or not _are_columns(X.columns, coding):
        return None
    if coding.is_coded:
        cell, width = X.iat, len(coding.columns)
        return coding.encode_cells([cell[0, j] for j in range(width)] if width <= _FEW_COLUMNS else X.iloc[0].tolist())
    values = X.to_numpy()
    return np.array(values, dtype=np.float64, order="C") if values.dtype.kind in _NUMBERS else None


def _are_columns(index: Any, coding: ColumnCoding) -> bool:
    """Return whether the pandas `index` has exactly the columns of `coding`.

    The last pair is kept: slices of a frame are views of one index, which cannot change, and to compare names takes
    10 us.
    """
    known_index, known_coding = _LAST_SAME[0]
    if coding is known_coding and index.is_(known_index):
        return True
    same = bool(index.tolist() == list(coding.columns))
    if same:
        _LAST_SAME[0] = index, coding
    return same


def _numbered(row: int) -> str:
    return f"row {row} of X"
