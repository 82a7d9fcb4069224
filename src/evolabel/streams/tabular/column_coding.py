"""`ColumnCoding`: how the named columns of a table become the features of a model, and back to names."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any, NamedTuple

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.streams.columns import ONLY_NUMBERS, ColumnKinds, FeatureNames, is_number, one_hot
from evolabel.streams.tabular.tables import (
    EXPECTED_NUMBER,
    Column,
    DescribeRow,
    Texts,
    as_texts,
    check_categories,
    check_finite,
)
from evolabel.streams.tabular.time_columns import time_feature_names, time_features
from evolabel.typing import FloatArray


class Unseen(NamedTuple):
    """A `text` at `row` of `column` that is none of the texts the column had when the coding was made."""

    row: int
    column: str
    text: str


class Encoded(NamedTuple):
    """Features of a table, and the texts of it that no feature stands for."""

    rows: FloatArray
    unseen: list[Unseen]


@dataclass(frozen=True)
class ColumnCoding:
    """The columns of a table in the order of a model; a column of texts becomes one 0/1 feature per text.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns.
    categories : tuple of tuple of str, or None
        For each column the texts it had, or None for a column of numbers.
    origins : tuple of pairs of str
        Columns of timestamps, which become three features each, and the timestamp from which on the days are counted.
    flags : tuple of str
        Columns of true and false, which are one feature each.

    Examples
    --------
    >>> import numpy as np
    >>> coding = ColumnCoding.of({"depth": np.array([0.5, 2.0]), "site": Texts.of(["south", "north"])})
    >>> coding.feature_names
    ['depth', 'site=north', 'site=south']
    >>> coding.encode({"depth": np.array([1.0]), "site": Texts.of(["east"])}, str)
    Encoded(rows=array([[1., 0., 0.]]), unseen=[Unseen(row=0, column='site', text='east')])
    """

    columns: tuple[str, ...]
    categories: tuple[tuple[str, ...] | None, ...]
    origins: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Mapping[str, Column], flags: tuple[str, ...] = ()) -> "ColumnCoding":
        """Return the coding of these `columns`; one whose texts are all missing counts as numbers.

        Those named by `flags` hold true and false.
        """
        for name, column in columns.items():
            if isinstance(column, Texts):
                check_categories(name, column)
        categories = (tuple(column.categories) if isinstance(column, Texts) else () for column in columns.values())
        return cls(tuple(columns), tuple(texts or None for texts in categories), flags=flags)

    @classmethod
    def of_features(cls, names: Sequence[str], kinds: ColumnKinds = ONLY_NUMBERS) -> "ColumnCoding":
        """Return the coding of the columns of these `kinds` whose features have these `names`.

        The features of the time columns are found by their names. Features of one column must follow each other; where
        they do not, all features are numbers.
        """
        columns, categories = list[str](), list[tuple[str, ...] | None]()
        texts, origins = frozenset(kinds.texts), kinds.origins
        parts = {part: column for column in origins for part in time_feature_names(column)}
        for name in names:
            column, _, value = name.partition("=")
            if name in parts:
                if columns[-1:] != [parts[name]]:
                    columns.append(parts[name])
                    categories.append(None)
            elif name not in texts:
                columns.append(name)
                categories.append(None)
            elif columns and columns[-1] == column and categories[-1]:
                categories[-1] = (*categories[-1], value)
            else:
                columns.append(column)
                categories.append((value,))
        times = tuple(sorted((column, origin) for column, origin in origins.items() if column in columns))
        flags = tuple(column for column in kinds.flags if column in columns)
        coding = cls(tuple(columns), tuple(categories), times, flags)
        if len(set(columns)) < len(columns) or coding.feature_names != list(names):
            return cls(tuple(names), (None,) * len(names), flags=flags)
        return coding

    @cached_property
    def feature_names(self) -> FeatureNames:
        """Names of the features: those of the columns of numbers, and `site=north` for texts."""
        both = list(zip(self._names, self.categories, strict=True))
        texts = [name for names, categories in both if categories is not None for name in names]
        return FeatureNames([name for names in self._names for name in names], texts, self.flags)

    @cached_property
    def _names(self) -> list[list[str]]:
        """Names of the features of each column."""
        return [
            time_feature_names(column)
            if column in self.times
            else [column]
            if texts is None
            else [f"{column}={text}" for text in texts]
            for column, texts in zip(self.columns, self.categories, strict=True)
        ]

    @cached_property
    def times(self) -> dict[str, str]:
        """The columns of timestamps, with the timestamp from which on their days are counted."""
        return dict(self.origins)

    @cached_property
    def is_coded(self) -> bool:
        """Whether any column holds texts or timestamps."""
        return bool(self.origins) or any(texts is not None for texts in self.categories)

    def coded_in(self, names: Collection[str]) -> "ColumnCoding":
        """Return this coding, or one that reads the features by their own names if all of these are in `names`."""
        return self._by_features if self.is_coded and set(self.feature_names) <= set(names) else self

    @cached_property
    def _by_features(self) -> "ColumnCoding":
        """The coding whose columns are the features of this one."""
        return ColumnCoding.of_features(self.feature_names)

    @cached_property
    def spans(self) -> list[slice]:
        """The features of each column."""
        widths = [len(names) for names in self._names]
        ends = np.cumsum(widths).tolist()
        return [slice(end - width, end) for width, end in zip(widths, ends, strict=True)]

    @cached_property
    def _cells(self) -> list[tuple[slice, dict[str, int] | None]]:
        """For each column its features, and the feature of each text."""
        return [
            (span, None if texts is None else {text: span.start + i for i, text in enumerate(texts)})
            for span, texts in zip(self.spans, self.categories, strict=True)
        ]

    def absent(self, names: Collection[str]) -> list[str]:
        """Return the columns whose values are in none of the columns with these `names`."""
        return [column for column in self.columns if _column_in(column, names) is None]

    def used(self, names: Collection[str], table: str = "X") -> list[str]:
        """Return those of `names` that `encode` reads; DataError that begins with `table` if a column is missing."""
        if absent := self.absent(names):
            raise DataError(
                f"{table} has no column for {first_names(absent)}; the model needs {first_names(self.columns)}, "
                "pass a table with these columns"
            )
        return list(dict.fromkeys(_column_in(column, names) or column for column in self.columns))

    def encode(self, columns: Mapping[str, Column], describe_row: DescribeRow, table: str = "X") -> Encoded:
        """Return the features of a table with these `columns`, in any order, and its texts without a feature.

        `describe_row` returns where a row is, `table` names the table, both for messages. A column `site=north` of
        numbers is also read from a column `site` of texts.
        """
        self.used(columns, table)
        n_rows = max(len(c.values if isinstance(c, Texts) else c) for c in columns.values())
        rows, unseen = np.empty((n_rows, len(self.feature_names))), list[Unseen]()
        for column, texts, span in zip(self.columns, self.categories, self.spans, strict=True):
            name = _column_in(column, columns) or column
            values = columns[name]
            if column in self.times:
                rows[:, span] = time_features(column, as_texts(values), self.times[column], describe_row)
            elif texts is not None:
                rows[:, span] = _encoded_texts(column, texts, values, unseen)
            elif name == column:
                rows[:, span.start] = _numbers(column, values, describe_row)
            else:
                rows[:, span] = _encoded_texts(name, (column[len(name) + 1 :],), values, [])
        unseen.sort()
        return Encoded(rows, unseen)

    def encode_cells(self, cells: Sequence[Any]) -> FloatArray | None:
        """Return the features, (1, p), of one row of plain `cells` in the order of the columns.

        None where a cell needs a closer look: an unknown text, or a value of another kind.
        """
        if self.origins:
            return None
        features = [0.0] * len(self.feature_names)  # an array is slower to fill
        try:
            for value, (span, texts) in zip(cells, self._cells, strict=True):
                if isinstance(value, str):
                    features[texts[value]] = 1.0  # type: ignore[index]  # a text among numbers is a TypeError
                elif texts is None:
                    features[span.start] = nan if value is None else float(value)
                elif value is None or value != value:
                    features[span] = [nan] * len(texts)
                else:
                    return None
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        return np.array([features])


def _column_in(column: str, names: Collection[str]) -> str | None:
    """Return the one of `names` with the values of `column`: itself, or the part before an equals sign in it."""
    before_equals = (column[:position] for position, mark in enumerate(column) if mark == "=")
    return next((name for name in (column, *before_equals) if name in names), None)


def _encoded_texts(name: str, texts: tuple[str, ...], values: Column, unseen: list[Unseen]) -> FloatArray:
    """Return one 0/1 column per text of the column `name`; other texts among `values` are appended to `unseen`."""
    given: Sequence[str | None]
    given = values.values if isinstance(values, Texts) else [None if np.isnan(x) else f"{x:g}" for x in values]
    code = {text: float(position) for position, text in enumerate(texts)}
    codes = np.array([np.nan if text is None else code.get(text, -1.0) for text in given])
    unseen += [Unseen(row, name, str(given[row])) for row in np.flatnonzero(codes == -1.0).tolist()]
    return one_hot(codes, len(texts))


def _numbers(name: str, values: Column, describe_row: DescribeRow) -> FloatArray:
    if not isinstance(values, Texts):
        return check_finite(name, values, describe_row)
    _refuse_texts(name, values, describe_row)
    return np.full(len(values.values), np.nan)


def _refuse_texts(name: str, column: Texts, describe_row: DescribeRow) -> None:
    """Raise DataError unless all texts of `column` are missing; it names one that is not a number, if there is any."""
    given = [(row, text) for row, text in enumerate(column.values) if text is not None]
    for decimal in (",", "."):
        for row, text in given:
            if not is_number(text, decimal):
                raise DataError(f"{describe_row(row)}: {name!r} is {text!r}; {EXPECTED_NUMBER}")
    if given:
        row, text = given[0]
        raise DataError(f"{describe_row(row)}: {name!r} is {text!r}, a text; {EXPECTED_NUMBER}")
