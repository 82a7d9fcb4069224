"""The rows of an ARFF file as numbers: readers of one attribute each, and rows, dense or sparse, read by them."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, cast

import numpy as np

from evolabel._utils.text import first_names
from evolabel.streams.arff.header import Attribute
from evolabel.streams.arff.values import ContentLines, LineError, Value, excerpt, read_braces, split_values
from evolabel.streams.columns import TRUTH_VALUES, one_hot, parse_number
from evolabel.typing import FloatArray

Nominal = Literal["one-hot", "codes"]
Row = tuple[int, Sequence[Value]]

_ZERO_ONE = {0.0, 1.0}
_VALUES_PER_BLOCK = 500_000  # texts in memory at a time
_INDEX = re.compile(r"([0-9]{1,9})[ \t]+")


@dataclass(frozen=True)
class NumericReader:
    """Reader of a numeric attribute: finite numbers; NaN is a missing value, as in Weka.

    `name` is that of the attribute, `default` the text that a sparse row leaves out.
    """

    name: str
    default: str = "0"

    def read_all(self, values: Sequence[Value]) -> FloatArray:
        """Return `values` as numbers, fast; ValueError or TypeError if one of them needs `read_one`."""
        texts = cast("Sequence[str]", values)  # a missing value is None and raises TypeError
        numbers = np.array(list(map(float, texts)))
        if np.isinf(numbers).any() or "_" in "".join(texts):
            raise ValueError
        return numbers

    def read_one(self, value: Value, line: int | None = None) -> float:
        """Return `value` as a number, NaN if it is missing; LineError about the `line` if it is not a finite number."""
        number = math.nan if value is None else _as_number(value)
        if number is None:
            problem = f"{self.name!r} is {excerpt(value or '')}; expected a finite number, or ? if it is missing"
            raise LineError(problem, line)
        return number

    def to_columns(self, numbers: FloatArray) -> tuple[list[str], FloatArray]:
        """Return the name of the attribute, and `numbers` as one column."""
        return [self.name], numbers[:, np.newaxis]


@dataclass(frozen=True, kw_only=True)
class NominalReader:
    """Reader of a nominal attribute; if all its values are numbers, 1.0 is read like 1.

    `name` is that of the attribute, `default` the text that a sparse row leaves out, `expected` the allowed values as a
    text. `by_text` and `by_value` give the number of a text and of the number it is read as. With `one_hot_values`,
    there is one column per value.
    """

    name: str
    default: str
    expected: str
    by_text: Mapping[Value, float]
    by_value: Mapping[float | None, float]
    one_hot_values: Sequence[str] = ()

    def read_all(self, values: Sequence[Value]) -> list[float]:
        """Return `values` as numbers, fast; KeyError if one of them needs `read_one`."""
        return list(map(self.by_text.__getitem__, values))

    def read_one(self, value: Value, line: int | None = None) -> float:
        """Return the number of `value`, NaN if it is missing; LineError about the `line` if it is not allowed."""
        number = self.by_text.get(value)
        if number is None and value is not None:
            number = self.by_value.get(_as_number(value))
        if number is None:
            problem = f"{self.name!r} is {excerpt(value or '')}; expected {self.expected}, or ? if it is missing"
            raise LineError(problem, line)
        return number

    def to_columns(self, numbers: FloatArray) -> tuple[list[str], FloatArray]:
        """Return names and columns: one 0/1 column per value of `one_hot_values`, else `numbers` as one column."""
        if not self.one_hot_values:
            return [self.name], numbers[:, np.newaxis]
        return [f"{self.name}={value}" for value in self.one_hot_values], one_hot(numbers, len(self.one_hot_values))


ColumnReader = NumericReader | NominalReader


def feature_reader(attribute: Attribute, nominal: Nominal) -> ColumnReader:
    """Return the reader of the feature `attribute`; `nominal` is as in `read_arff`.

    Nominal {0,1} is one column of 0 and 1. Codes are the values themselves if these are numbers, else positions.
    """
    _refuse_text(attribute)
    if attribute.kind == "numeric":
        return NumericReader(attribute.name)
    values = attribute.values
    own = _own_numbers(values)
    texts = values if nominal == "one-hot" and set(own) != _ZERO_ONE else ()
    numbers = [float(position) for position in range(len(values))] if texts or not own else own
    return NominalReader(
        name=attribute.name,
        default=values[0],
        expected=f"one of {first_names(values)}",
        by_text={None: math.nan, **dict(zip(values, numbers, strict=True))},
        by_value=dict(zip(own, numbers, strict=False)),
        one_hot_values=texts,
    )


def label_reader(attribute: Attribute) -> ColumnReader:
    """Return the reader of the label `attribute`: 0, 1, true, false, yes, no or missing, whatever its type."""
    _refuse_text(attribute)
    declared: dict[Value, float] = {
        value: TRUTH_VALUES[value.lower()] for value in attribute.values if value.lower() in TRUTH_VALUES
    }
    return NominalReader(
        name=attribute.name,
        default=attribute.values[0] if attribute.kind == "nominal" else "0",
        expected="0, 1, true, false, yes or no, because it is a label",
        by_text={None: math.nan, "0": 0.0, "1": 1.0, **declared},
        by_value={0.0: 0.0, 1.0: 1.0},
    )


def _refuse_text(attribute: Attribute) -> None:
    if attribute.kind in ("string", "date"):
        name = attribute.name
        raise LineError(
            f"{name!r} is a {attribute.kind}, not a number; leave it out by drop=[{name!r}]", attribute.line
        )


def _own_numbers(values: Sequence[str]) -> list[float]:
    """Return `values` as numbers; an empty list if one is not a number, or two are equal."""
    numbers = [number for number in map(_as_number, values) if number is not None and not math.isnan(number)]
    return numbers if len(set(numbers)) == len(values) else []


def _as_number(text: str) -> float | None:
    """Return `text` as a number, None if it is infinite or not a number."""
    try:
        number = parse_number(text)
    except ValueError:
        return None
    return None if math.isinf(number) else number


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
