"""Named columns, of numbers or of texts, become a `Dataset`: what data frames and CSV files have in common."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from evolabel.errors import DataError, ParameterError
from evolabel.streams.dataset import Dataset
from evolabel.streams.truth import TRUTH
from evolabel.typing import FloatArray

MOST_CATEGORIES = 256
NAMED = 10  # columns an error names, at most
NUMBER = "expected a number, or nothing where it is missing"


@dataclass(frozen=True)
class Texts:
    """A column of texts, None where one is missing; `categories` are the values it may have, in their order."""

    values: Sequence[str | None]
    categories: Sequence[str]

    @classmethod
    def of(cls, values: Sequence[str | None]) -> "Texts":
        """Texts whose categories are those that occur, sorted."""
        return cls(values, sorted({value for value in values if value is not None}))


Column = FloatArray | Texts
Where = Callable[[int], str]


def assemble(columns: Mapping[str, Column], labels: Iterable[str] | int, name: str, where: Where) -> Dataset:
    """A data set of these columns: `labels` in the order given, all others as features, texts one-hot.

    A number of labels n means the first n columns, -n the last n. `where` tells the place of a row, for messages.
    """
    label_names = _counted(labels, list(columns)) if isinstance(labels, int | np.integer) else _named(labels, columns)
    features = {column: values for column, values in columns.items() if column not in label_names}
    if not features:
        raise DataError("all columns are labels; leave some columns as features")
    spread = [_spread(column, values, where) for column, values in features.items()]
    Y = np.column_stack([label_values(label, columns[label], where) for label in label_names])
    X = np.ascontiguousarray(np.hstack([block for _, block in spread]))
    return Dataset(X, Y, tuple(name for names, _ in spread for name in names), label_names, name)


def kept(columns: Sequence[str], drop: Iterable[str]) -> list[str]:
    """The columns without those that are to be left out."""
    dropped = [drop] if isinstance(drop, str) else list(drop)
    for name in dropped:
        if name not in columns:
            raise DataError(f"there is no column {name!r} to leave out; {_hint(name, columns)}")
    return [column for column in columns if column not in dropped]


def _counted(count: int, columns: Sequence[str]) -> tuple[str, ...]:
    most = len(columns) - 1
    if not 0 < abs(count) <= most:
        raise DataError(f"{count} of {most + 1} columns cannot be labels; expected 1 to {most}, or -1 to -{most}")
    return tuple(columns[:count] if count > 0 else columns[count:])


def _named(labels: Iterable[str], columns: Mapping[str, Column]) -> tuple[str, ...]:
    if not isinstance(labels, Iterable):
        raise ParameterError(
            f"labels={labels!r} names no columns; use their names, n for the first n, -n for the last n"
        )
    names = (labels,) if isinstance(labels, str) else tuple(dict.fromkeys(map(str, labels)))
    if not names:
        raise DataError("no column is named as label; pass the names of the label columns")
    for name in names:
        if name not in columns:
            raise DataError(f"there is no column {name!r} for a label; {_hint(name, list(columns))}")
    return names


def _hint(name: str, columns: Sequence[str]) -> str:
    """What somebody may have meant."""
    close = get_close_matches(str(name), columns, n=1)
    return f"did you mean {close[0]!r}?" if close else f"the columns are {first_of(columns)}"


def first_of(names: Sequence[str]) -> str:
    """The names, as many as a message can bear."""
    return ", ".join(names[:NAMED]) + (" ..." if len(names) > NAMED else "")


def _spread(name: str, column: Column, where: Where) -> tuple[list[str], FloatArray]:
    """Names and values of the features that a column becomes."""
    if isinstance(column, Texts):
        return _one_hot(name, column) if column.categories else ([name], _nothing(column)[:, np.newaxis])
    return [name], finite(name, column, where)[:, np.newaxis]


def finite(name: str, column: FloatArray, where: Where) -> FloatArray:
    """The numbers of a feature, if none of them is infinite."""
    infinite = np.flatnonzero(np.isinf(column))
    if infinite.size:
        raise DataError(f"{where(infinite[0])}: {name!r} is infinite; {NUMBER}")
    return column


def _one_hot(name: str, texts: Texts) -> tuple[list[str], FloatArray]:
    """One 0/1 column per category, all NaN where the text is missing."""
    if len(texts.categories) > MOST_CATEGORIES:
        raise DataError(
            f"column {name!r} has {len(texts.categories)} different texts ({', '.join(texts.categories[:3])} ...), at "
            f"most {MOST_CATEGORIES} can become features; drop the column, or turn it into numbers"
        )
    code = {category: float(position) for position, category in enumerate(texts.categories)}
    codes = np.array([np.nan if value is None else code[value] for value in texts.values])
    block = (codes[:, np.newaxis] == np.arange(len(code))).astype(np.float64)
    block[np.isnan(codes)] = np.nan
    return [f"{name}={category}" for category in texts.categories], block


def label_values(name: str, column: Column, where: Where) -> FloatArray:
    """A label as 0, 1 and NaN."""
    expected = "expected 0, 1, true, false, yes, no, or nothing where it is missing"
    if isinstance(column, Texts):
        said = [np.nan if value is None else TRUTH.get(value.strip().lower()) for value in column.values]
        if None in said:
            row = said.index(None)
            raise DataError(f"{where(row)}: label {name!r} is {column.values[row]!r}; {expected}")
        return np.array(said, dtype=np.float64)
    wrong = np.flatnonzero((column != 0.0) & (column != 1.0) & ~np.isnan(column))
    if wrong.size:
        raise DataError(f"{where(wrong[0])}: label {name!r} is {column[wrong[0]]:g}; {expected}")
    return column


def _nothing(column: Texts) -> FloatArray:
    return np.full(len(column.values), np.nan)
