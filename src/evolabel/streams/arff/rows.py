"""The rows of an ARFF file, dense or sparse, as one array of numbers."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from evolabel.streams.arff.columns import ColumnReader
from evolabel.streams.arff.values import ContentLines, LineError, Value, excerpt, read_braces, split_values
from evolabel.typing import FloatArray

_VALUES_PER_BLOCK = 500_000  # texts in memory at a time
_INDEX = re.compile(r"([0-9]{1,9})[ \t]+")

Row = tuple[int, Sequence[Value]]


def read_data(lines: ContentLines, columns: Sequence[ColumnReader | None], limit: int | None) -> FloatArray:
    """Return the values of the first `limit` rows of `lines`, of shape (n_rows, n_columns); None reads all rows.

    `columns` has a reader for every attribute, None for those that are left out. Rows are read in blocks and converted
    column by column, which is faster than value by value.
    """
    rows = islice(_split_rows(lines, columns), limit)
    height = max(1, _VALUES_PER_BLOCK // len(columns))
    blocks = []
    while block := list(islice(rows, height)):
        blocks.append(_numbers(block, columns))
    if not blocks:
        raise LineError("there are no rows after @data; expected at least one")
    return np.concatenate(blocks)


def _split_rows(lines: ContentLines, columns: Sequence[ColumnReader | None]) -> Iterator[Row]:
    """Yield the number of every one of `lines`, with one value per column of `columns`."""
    defaults = ["" if column is None else column.default for column in columns]
    for line in lines:
        yield lines.number, _split_sparse(line, defaults) if line.startswith("{") else _split_dense(line, len(columns))


def _split_dense(line: str, width: int) -> list[Value]:
    values = split_values(line)
    if len(values) == width + 1:
        _refuse_weight(values[-1] or "")
    if len(values) != width:
        raise LineError(
            f"expected {width} values, one per attribute, got {len(values)}; "
            "separate them by commas and write ? for what is missing"
        )
    return values


def _split_sparse(line: str, defaults: Sequence[str]) -> list[Value]:
    values: list[Value] = [*defaults]
    pairs, rest = read_braces(line, _INDEX)
    extra = rest.partition("%")[0].strip(", \t")
    _refuse_weight(extra)
    if extra:
        raise LineError(f"unexpected {excerpt(extra)} after a sparse row; start a new line for the next row")
    for index, value in pairs:
        if int(index) >= len(values):
            raise LineError(f"index {index} is out of range; the {len(values)} attributes are counted from 0")
        values[int(index)] = value
    if len({int(index) for index, _ in pairs}) < len(pairs):
        raise LineError("an index occurs twice in this sparse row; give each attribute at most one value")
    return values


def _refuse_weight(text: str) -> None:
    if text.startswith("{") and text.endswith("}"):
        raise LineError(f"the row has a weight, {excerpt(text)}; weights cannot be read from ARFF files, remove it")


def _numbers(rows: Sequence[Row], columns: Sequence[ColumnReader | None]) -> FloatArray:
    lines = [line for line, _ in rows]
    by_column = zip(columns, zip(*(values for _, values in rows), strict=True), strict=True)
    return np.column_stack([_column(column, values, lines) for column, values in by_column if column is not None])


def _column(column: ColumnReader, values: Sequence[Value], lines: Sequence[int]) -> Sequence[float] | FloatArray:
    try:
        return column.read_all(values)
    except (KeyError, TypeError, ValueError):
        return [column.read_one(value, line) for value, line in zip(values, lines, strict=True)]
